#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Known workloads on another kernel: SUITE_guest.sh makes traces there, SUITE_check.py says what they must hold. What may go
# wrong without a fault of ours is done again: the emulator loses the kernel's timers (75), other work on this machine takes the
# time that the guest should have had, or the kernel skipped programs of ours and the trace says so (74, and else everything but how long
# it took is right). All of it within $budget_s.
# MLRUN_RING_PROCESSORS goes into the guest: how many processors share a ring of the kernel side's.
# Usage: traces_test.sh SUITE KERNEL PYTHON
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${MLRUN_BUILD:-$here/../../../build}
out=$build/vm/$1-$(basename "$2")
readonly budget_s=900 guest_s=600 least_s=120

# How long the next guest may take.
guest_timeout() {
  local left=$((budget_s - SECONDS))
  printf '%s' $((left < guest_s ? left : guest_s))
}

more=() # of vmrun's options
if [[ $1 == block ]]; then more=(--nvme 64); fi

make_traces() {
  rm -rf "$out"
  mkdir -p "$out"
  "$here/../vmrun" --kernel "$2" --disk 256 "${more[@]}" --timeout "$(guest_timeout)" --out "$out" -- \
    env "MLRUN_RING_PROCESSORS=${MLRUN_RING_PROCESSORS:-}" bash "$here/$1_guest.sh" "$build" "$(realpath -s "$3")" || return
  for trace in "$out"/*/; do "$build/bin/mlrun" recover --quiet "$trace" || return; done
}

for _ in 1 2 3; do
  status=0
  make_traces "$@" || status=$?
  if ((status == 0)); then "$3" -B "$here/$1_check.py" "$out" || status=$?; fi
  if ((status != 74 && status != 75)) || (($(guest_timeout) < least_s)); then break; fi
done
if ((status == 0 || status == 77)); then rm -rf "$out"; fi
exit "$status"
