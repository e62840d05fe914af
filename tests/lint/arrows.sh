#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: producers see runner/events and themselves, mlrun-probes also runner/util; the runner never sees
# a producer; the contract sees nothing but itself.
set -euo pipefail
source "$(dirname "$0")/sources.sh"
failed=0
forbid() {  # forbid REGEX-OF-INCLUDES FILES...
  local regex=$1; shift
  if grep -nE "^#include \"($regex)" "$@"; then failed=1; fi
}
mapfile -t events < <(sources 'runner/events/*.h')
mapfile -t preload < <(sources 'preload/*.[ch]')
mapfile -t kprobes < <(sources 'kprobes/*.h' 'kprobes/*.c' 'kprobes/*.cpp')
mapfile -t cupti < <(sources 'cupti/*.[ch]')
mapfile -t runner < <(sources 'runner/*.h' 'runner/*.cpp')
forbid '(preload|runner/[a-df-z]|kprobes|cupti|tests)' "${events[@]}"
forbid '(runner/[a-df-z]|kprobes|cupti|tests)' "${preload[@]}"
forbid '(preload|runner/[a-df-tv-z]|cupti|tests)' "${kprobes[@]}"
# Of the interposer what has no code behind it: how to make a system call, what the compiler must be told.
forbid '(runner/[a-df-z]|kprobes|tests|preload/([abd-qs-z]|c[a-np-z]|r[b-z]))' "${cupti[@]}"
forbid '(preload|kprobes|cupti|tests)' "${runner[@]}"
if ((failed)); then echo "the includes above point the wrong way"; fi
exit "$failed"
