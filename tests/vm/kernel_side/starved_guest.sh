#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: a GPU (mock CUDA and CUPTI) that waits for one of three workers, whose device takes 20 ms for each read.
# Usage: starved_guest.sh BUILD PYTHON
set -euo pipefail
build=$1
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"
here=$(dirname "${BASH_SOURCE[0]}")

slow_device 64
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/nullb0 </dev/null
mkdir -p /mnt/n
mount /dev/nullb0 /mnt/n
head -c 1048576 /dev/urandom >/mnt/n/samples
sync
export LD_LIBRARY_PATH=$build/gpu/cupti/cuda:$build/gpu/cupti/13 MOCK_CUDA_VERSION=13000
options=(--cupti --lossless)
traced starved nullb0 /usr/bin/python3 -B "$here/starved_train.py" /mnt/n/samples
