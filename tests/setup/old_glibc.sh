#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches glibc 2.27, for links of the wheel's programs, and prints its folder. It is that of Ubuntu 18.04, unpacked below the cache
# of tests/vm/debian.sh: the oldest that a mirror in use has.
# Usage: old_glibc.sh   Exit status 77: it cannot be had here; the last line says why.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../vm/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/../vm/debian.sh"

readonly archive=${MLRUN_UBUNTU_MIRROR:-http://archive.ubuntu.com}/ubuntu/pool/main/g/glibc
readonly packages=(
  5b813d4512491cd8fb30b2eb9192349ee75ffe3c9f21ae136cc7b2429f70c3b2:libc6_2.27-3ubuntu1.6_amd64.deb
  96ae7d2cf38f0547ca3cccb3344c8802fdf5bcd71c4b6d9aed09558ac8cc87db:libc6-dev_2.27-3ubuntu1.6_amd64.deb
)

fetch() {
  needs_tools apt-get dpkg
  local package file
  for package in "${packages[@]}"; do
    file=$work/${package#*:}
    /usr/lib/apt/apt-helper download-file "$archive/${package#*:}" "$file" "SHA256:${package%%:*}" >"$work/log" 2>&1 ||
      cannot "$(tail -n 1 "$work/log")"
    dpkg -x "$file" "$root.new"
  done
  mv -T "$root.new" "$root"
}

what="glibc 2.27"
fetch_once glibc2.27 fetch
