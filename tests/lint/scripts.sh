#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck for the shell scripts, ruff for the Python.  Usage: scripts.sh PYTHON
set -euo pipefail
source "$(dirname "$0")/sources.sh"
mapfile -t shell < <(grep -lE '^#!.*\b(ba)?sh\b' $(sources '*' | grep -vE '\.(md|cpp|c|h|py)$') 2>/dev/null)
shellcheck --external-sources --severity=warning "${shell[@]}"
"$1" -m ruff check --quiet --line-length 120 tests
echo "${#shell[@]} shell scripts and the Python files are clean"
