#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shell scripts go through shellcheck, the Python through ruff.  Usage: scripts.sh PYTHON
set -euo pipefail
source "$(dirname "$0")/sources.sh"
mapfile -t shell < <(sources '*' | grep -vE '\.(md|cpp|c|h|py)$' | xargs -r -d '\n' grep -lE '^#!.*\b(ba)?sh\b')
shellcheck --external-sources --severity=warning "${shell[@]}"
"$1" -m ruff check --quiet --no-cache --select E7,E9,F,W --ignore E731 tests runner
echo "${#shell[@]} shell scripts and the Python files are clean"
