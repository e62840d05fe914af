#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header compiles on its own; those of the contract as C11, as C++20 and, where clang is there, for BPF. The build has
# proven it of a header that the source of its name includes first.
# Usage: headers.sh BUILD [--changed]  (its compile commands say where the libraries' headers are)
# --changed: only those that the last commit or the working tree has changed, and the headers that include them.
set -euo pipefail
source "$(dirname "$0")/sources.sh"
includes=$(grep -ohE -- '-(isystem ?|I)[^ "]+' "$1/compile_commands.json" | sort -u | tr '\n' ' ')
only=${2:-}
failed=0
# Compiled to an object and from a file, with the cache that the build has: one that has not changed is not looked at again.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cache=()
if command -v ccache >/dev/null; then cache=(ccache); fi
work=$1/lint-headers
mkdir -p "$work"
compile() {  # compile HEADER COMPILER...; the language comes in $language
  local header=$1 language=${language:?}; shift
  local source=$work/${header//\//_}.$language
  printf '#include "%s"\nextern int not_empty;\n' "$header" >"$source"
  # shellcheck disable=SC2086
  if ! "${cache[@]}" "$@" -I. $includes -x "$language" -c "$source" -o "$source.o"; then
    echo "$header does not stand on its own ($*)"
    failed=1
  fi
}
comes_first() {  # comes_first HEADER SOURCE
  [[ -f $2 && $(grep -m 1 '^#include' "$2") == "#include \"$1\"" ]]
}
headers() {
  local all changed
  all=$(sources 'runner/*.h' 'preload/*.h' 'cupti/*.h' 'kprobes/*.h')
  if [[ $only != --changed ]]; then echo "$all"; return; fi
  # Without the commit before the last one, as in a shallow clone, the working tree alone counts.
  changed=$({ git diff --name-only HEAD~1 || git diff --name-only HEAD; git ls-files --others --exclude-standard; } 2>/dev/null | grep '\.h$' || true)
  if [[ -z $changed ]]; then return; fi
  { grep -xF "$changed" <<<"$all"; xargs grep -lF "$(sed 's/.*/#include "&"/' <<<"$changed")" <<<"$all"; } | sort -u || true
}
while read -r header; do
  if [[ $header != runner/events/* ]] && { comes_first "$header" "${header%.h}.cpp" || comes_first "$header" "${header%.h}.c"; }; then
    continue
  fi
  case $header in
    kprobes/bpf/*) language=c compile "$header" clang -target bpf -mcpu=v3 -g -O2 -D__x86_64__ \
      -isystem "/usr/include/$(uname -m)-linux-gnu" -Wall -Werror -Wno-unused-parameter -Wno-unused-function ;;
    runner/events/*view* | runner/util/drop_counts.h | runner/events/func* | runner/events/call_layout.h | runner/events/cu*_calls.h | runner/events/cufile_batch.h | runner/events/mllog_stamp.h) language=c++ compile "$header" g++ -std=c++20 -Wall -Werror ;;
    runner/events/*)
      language=c compile "$header" gcc -std=c11 -Wall -Wextra -Wpedantic -Werror
      language=c++ compile "$header" g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror
      language=c compile "$header" clang -target bpf -g -O2 -D__x86_64__ -isystem "/usr/include/$(uname -m)-linux-gnu" -Wall -Werror
      ;;
    preload/* | cupti/*) language=c compile "$header" gcc -std=gnu11 -Wall -Wextra -Werror ;;
    *) language=c++ compile "$header" g++ -std=c++20 -Wall -Werror ;;
  esac
done < <(headers)
exit "$failed"
