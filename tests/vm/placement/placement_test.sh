#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A check in a guest with NUMA nodes: guest_check.py, rules of --place; loader_check.py, the same for a PyTorch DataLoader;
# access_check.py, rungs of --access; pmem_check.py, --pmem; advise_check.py, mlrun advise;
# gpu_check.py, host buffers of a GPU's copies. Done again if the emulator has lost the guest's timers (75).
# Usage: placement_test.sh CHECK KERNEL PYTHON [vmrun's option]...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${MLRUN_BUILD:-$here/../../../build}")
check=$1 kernel=$2 python=$(realpath -s "$3")
shift 3
for _ in 1 2; do
  status=0
  "$here/../vmrun" --kernel "$kernel" --numa --memory 1024 --disk 0 --timeout 600 "$@" -- \
    "$python" -B "$here/$check" "$build" "$python" || status=$?
  if ((status != 75)); then break; fi
done
exit "$status"
