#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches an interpreter that Debian 12 does not have, 3.14 or 3.15, and prints its path. It is that of Debian 14 (forky), unpacked
# below the cache of tests/vm/debian.sh, with the C library that it needs beside it: nothing of it is installed.
# Usage: pythons.sh VERSION   Exit status 77: it cannot be had here; the last line says why.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../vm/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/../vm/debian.sh"

# Its own loader and C library are written into the program, so that it starts as any other one and is what /proc/PID/exe
# says. What it starts in its turn takes the system's own.
bind_to_own_libraries() {
  local program=$1 libraries=usr/lib/x86_64-linux-gnu
  patchelf --set-interpreter "$root/$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$root/$libraries" "$program"
}

fetch() {
  needs_tools apt-get dpkg patchelf
  make_lists
  unpack_packages "$root.new" python"$version"-minimal libpython"$version"-{minimal,stdlib} libc6/forky libexpat1/forky
  bind_to_own_libraries "$root.new/usr/bin/python$version"
  mv -T "$root.new" "$root"
  "$root/usr/bin/python$version" -c 'import asyncio, json, multiprocessing, threading' >>"$work/log" 2>&1 || {
    rm -rf "$root"
    cannot "it does not start: $(tail -n 1 "$work/log")"
  }
}

version=${1:?usage: pythons.sh VERSION}
what="Python $version"
suites=("debian forky")
root=$(fetch_once "python$version" fetch)
printf '%s\n' "$root/usr/bin/python$version"
