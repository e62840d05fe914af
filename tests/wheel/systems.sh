#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel in bare systems that have Python and nothing else of what mlrun is built with (Debian 11 and 12, Ubuntu 22.04), and
# runs commands there untraced and traced. What is mounted and started ends with this script, as in tests/bare/debootstrap.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
readonly here source_root debian=http://deb.debian.org/debian ubuntu=${MLRUN_UBUNTU_MIRROR:-http://archive.ubuntu.com}/ubuntu

usage() {
  cat <<'USAGE'
Usage: tests/wheel/systems.sh [--dir DIR] [WHEEL]

Tests WHEEL, or builds it. Needs root, debootstrap and the network. DIR: where to make the systems, and to keep them; those that are
there already are used again.
USAGE
}

say() { printf 'wheel: %s\n' "$*"; }

fail() {
  printf 'wheel: error: %s\n' "$*" >&2
  exit 1
}

cannot() {
  printf 'wheel: skipped: %s\n' "$*" >&2
  exit 77
}

# make_system SUITE ARCHIVE OPTION...
make_system() {
  local suite=$1 archive=$2
  shift 2
  if [[ -e $folder/$suite/.made ]]; then return 0; fi
  say "making $suite from $archive"
  rm -rf --one-file-system "${folder:?}/$suite"
  debootstrap --variant=minbase --include=python3,python3-venv "$@" "$suite" "$folder/$suite" "$archive" >"$folder/$suite.log" 2>&1 ||
    cannot "debootstrap failed: $(tail -n 1 "$folder/$suite.log")"
  touch "$folder/$suite/.made"
}

# Requires: namespaces of our own.
enter() {
  local system=$1
  mount -t proc proc "$system/proc"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs -o size=50%,mode=1777 shm "$system/dev/shm"
  mount -t tmpfs -o mode=1777 tmp "$system/tmp"
  cp "$here/inside.sh" "$2" "$system/tmp"
  exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    chroot "$system" bash /tmp/inside.sh "/tmp/${2##*/}"
}

check_wheel() {
  local said size
  said=$("$source_root/.venv/bin/python" -m auditwheel show "$1" | tr '\n' ' ')
  [[ $said == *'consistent with the following platform tag: "manylinux_2_28_x86_64"'* ]] || fail "auditwheel: $said"
  size=$(stat -c %s "$1")
  ((size <= 60000000)) || fail "the wheel has $size bytes, more than 60 MB"
  say "${1##*/}, $size bytes, is of manylinux_2_28"
}

main() {
  local wheel="" suite failed=0
  folder=""
  while (($# > 0)); do
    case $1 in
      --dir) folder=${2:?--dir needs a folder} && shift ;;
      -h | --help) usage && return 0 ;;
      *) wheel=$(realpath "$1") ;;
    esac
    shift
  done
  if ((EUID != 0)); then cannot "debootstrap and chroot need root"; fi
  command -v debootstrap >/dev/null || cannot "debootstrap is missing"
  if [[ -z $wheel ]]; then wheel=$("$source_root/runner/wheel/build.sh"); fi
  check_wheel "$wheel"
  if [[ -z $folder ]]; then
    folder=$(mktemp --directory "${TMPDIR:-/tmp}/mlrun-wheel.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$folder'" EXIT
  fi
  mkdir -p "$folder"
  make_system bullseye "$debian"
  make_system bookworm "$debian"
  # Debian has no key of Ubuntu: its packages only ever run in a chroot of this test.
  make_system jammy "$ubuntu" --no-check-gpg --components=main,universe
  for suite in bullseye bookworm jammy; do
    say "--- $suite"
    unshare --mount --propagation private --pid --fork --kill-child -- bash "${BASH_SOURCE[0]}" --enter "$folder/$suite" "$wheel" || failed=1
  done
  if ((failed)); then fail "the wheel does not work everywhere"; fi
  say "passed"
}

if [[ ${1:-} == --enter ]]; then
  enter "$2" "$3"
else
  main "$@"
fi
