#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints error_names.h: NAME(E...) for each number of <errno.h>, without second names of a number.
set -euo pipefail
gcc -E -dM -include errno.h -x c /dev/null | sed -nE 's/^#define (E[A-Z0-9]+) [0-9]+$/NAME(\1)/p'
