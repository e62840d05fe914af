#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format decides how a source looks. To repair: clang-format -i FILE.
set -euo pipefail
source "$(dirname "$0")/sources.sh"
mapfile -t files < <(sources '*.h' '*.c' '*.cpp')
clang-format --dry-run -Werror "${files[@]}"
echo "${#files[@]} files are formatted"
