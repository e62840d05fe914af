#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# If the kernel side cannot work, it says so in one line, and the rest of the run is unaffected.
# Usage: refused_test.sh KERNEL COMMAND-LINE WORDS-THAT-ARE-SAID [WHAT-IS-DONE-IN-THE-GUEST-BEFORE]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${MLRUN_BUILD:-$here/../../../build}")
out=$build/vm/refused-$1-${2%%[= ]*}
rm -rf "$out"
mkdir -p "$out"
status=0
"$here/../vmrun" --kernel "$1" --disk 0 --append "$2" --timeout 300 --out "$out" -- "
  ${4:-true} || exit 1
  $build/bin/mlrun --preload --kprobes --defer-merge -o /run/trace sh -c 'cat /etc/hostname >/dev/null; exit 7' \
    2>/run/out/said; echo \$? >/run/out/status; cp -r /run/trace /run/out/
  $build/bin/mlrun --kprobes=require -o /run/none true 2>/run/out/required; echo \$? >/run/out/required_status
  COLUMNS=2000 $build/bin/mlrun doctor >/run/out/doctor; echo \$? >/run/out/doctor_status; test ! -e /run/none" ||
  status=$?
if ((status != 0)); then exit "$status"; fi
fail() {
  printf 'FAILED: %s\n' "$1"
  tail -n 5 "$out/said" "$out/required" "$out/status" "$out/required_status" "$out/doctor"
  exit 1
}
[[ $(<"$out/status") == 7 ]] || fail 'the command did not end with its own status'
[[ $(grep -c 'kernel side' "$out/said") == 1 ]] || fail 'not one line about the kernel side'
grep -q "$3" "$out/said" || fail "not said: $3"
[[ $(<"$out/required_status") == 125 ]] || fail '--kprobes=require did not refuse'
[[ $(wc -l <"$out/required") == 1 ]] && grep -q "$3" "$out/required" || fail "not said in one line with =require: $3"
[[ $(<"$out/doctor_status") == 0 ]] && grep '^less  *kernel side' "$out/doctor" | grep -q "$3" || fail "not said by the doctor: $3"
"$build/bin/mlrun" recover --quiet "$out/trace"
"$build/bin/mlrun" show "$out/trace" call --csv >"$out/calls" # through a file: grep -q would close a pipe early
grep -q /etc/hostname "$out/calls" || fail 'the calls are not in the trace'
"$build/bin/mlrun" show "$out/trace" coverage --csv >"$out/coverage"
grep -q "kernel side.*$3" "$out/coverage" || fail "not said in coverage: $3"
rm -rf "$out"
echo "refused in one line: $3"
