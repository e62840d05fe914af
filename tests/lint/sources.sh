# SPDX-License-Identifier: Apache-2.0
# Sourced by the lint scripts: sources PATTERN... prints the project's own files that match, from git or from a plain tree.
# shellcheck shell=bash
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | sort -u
  else
    local pattern
    for pattern in "$@"; do find preload cupti kprobes runner tests -name "$pattern" -type f; done | sort -u
  fi
}
