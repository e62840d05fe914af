#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: producers see runner/events and themselves; the runner never sees a producer; the contract sees
# nothing but itself.
set -euo pipefail
source "$(dirname "$0")/sources.sh"
failed=0
forbid() {  # forbid REGEX-OF-INCLUDES FILES...
  local regex=$1; shift
  if grep -nE "^#include \"($regex)" "$@"; then failed=1; fi
}
mapfile -t events < <(sources 'runner/events/*.h')
mapfile -t preload < <(sources 'preload/*.[ch]')
mapfile -t runner < <(sources 'runner/*.h' 'runner/*.cpp')
forbid '(preload|runner/[a-df-z]|kprobes|cupti|tests)' "${events[@]}"
forbid '(runner/[a-df-z]|kprobes|cupti|tests)' "${preload[@]}"
forbid '(preload|kprobes|cupti|tests)' "${runner[@]}"
if ((failed)); then echo "the includes above point the wrong way"; fi
exit "$failed"
