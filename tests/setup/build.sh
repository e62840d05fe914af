#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures the build folder where that is due, and builds. Usage: tests/setup/build.sh [--tests | --demo]
# The folder is build, or $MLRUN_BUILD. Without --tests nothing that needs the test packages is asked for; a folder that
# has been configured with the tests keeps them. --demo: only what tests/demo runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=${MLRUN_BUILD:-build}
# One compiler cache serves all checkouts of this machine, also for what is compiled with headers compiled before.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
configure=(cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING)
if [[ ${1:-} == --tests ]]; then configure+=(-DMLRUN_TESTS=ON); else configure+=(-DMLRUN_TESTS=OFF); fi

is_configured() {
  [[ -f $build/build.ninja ]] || return 1
  # A new PyArrow lies in other files; CMake does not look for it again by itself.
  [[ $build/build.ninja -nt .venv/.installed-compile ]] || return 1
  [[ ${1:-} != --tests ]] || grep -q '^MLRUN_TESTS:BOOL=ON$' "$build/CMakeCache.txt"
}

if ! is_configured "$@"; then
  printf 'build: configuring %s\n' "$build" >&2
  "${configure[@]}" >&2
fi
quiet=()
if [[ ! -t 1 ]]; then quiet=(--quiet); fi
printf 'build: building in %s\n' "$build" >&2
targets=()
if [[ ${1:-} == --demo ]]; then targets=(mlrun mlrun-trace mlrun_preload mlrun-bench-loops); fi
exec ninja -C "$build" -j "$(nproc)" "${quiet[@]}" "${targets[@]}"
