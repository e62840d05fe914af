#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rules of --place in a guest with NUMA nodes, by guest_check.py there. Done again if the emulator has lost the guest's timers (75).
# Usage: placement_test.sh KERNEL PYTHON-WITH-NUMPY [vmrun's option]...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${MLRUN_BUILD:-$here/../../../build}")
kernel=$1 python=$(realpath -s "$2")
shift 2
for _ in 1 2; do
  status=0
  "$here/../vmrun" --kernel "$kernel" --numa --memory 1024 --disk 0 --timeout 600 "$@" -- \
    /usr/bin/python3 -B "$here/guest_check.py" "$build" "$python" || status=$?
  if ((status != 75)); then break; fi
done
exit "$status"
