#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the C++ sources of the runner, by the compile commands of BUILD.  Usage: tidy.sh BUILD
# A file that passed before is not looked at again until it, a header of ours or the configuration changes.
set -euo pipefail
source "$(dirname "$0")/sources.sh"
build=$1
done_list=$build/tidy.passed
configuration=$(sources 'runner/**.h' '.clang-tidy' | xargs -r cat .clang-tidy | sha256sum | cut -c1-16)
touch "$done_list"
todo=()
while read -r file; do
  key="$configuration $(sha256sum <"$file" | cut -c1-16) $file"
  if ! grep -qxF "$key" "$done_list"; then todo+=("$file"); fi
done < <(sources 'runner/*.cpp')
check() {
  if clang-tidy --quiet -p "$1" --extra-arg=-Wno-unknown-warning-option "$3" 2>/dev/null; then
    echo "$2 $(sha256sum <"$3" | cut -c1-16) $3" >>"$1/tidy.passed"
  else
    exit 1
  fi
}
export -f check
printf '%s\0' "${todo[@]}" | xargs -0 -r -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$build" "$configuration" {}
echo "${#todo[@]} files checked"
