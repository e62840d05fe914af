#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that programs in a container of an older distribution are traced and behave as ever: makes a Debian 10 (glibc 2.28)
# or 11 (2.31) with debootstrap, builds victims there with its own compiler, and runs the end-to-end case about it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
readonly here source_root

usage() {
  cat <<'USAGE'
Usage: tests/bare/older_glibc.sh [buster|bullseye] [DIR]

Runs e2e.t361 in an older Debian (default: bullseye). Needs root, debootstrap, the network and a build of mlrun. DIR: where to
make the system, and to keep it; a system that is there already is used again.
USAGE
}

say() { printf 'older: %s\n' "$*"; }

fail() {
  printf 'older: error: %s\n' "$*" >&2
  exit 1
}

archive_of() {
  case $1 in
    buster) printf 'http://archive.debian.org/debian\n' ;;
    bullseye) printf 'http://deb.debian.org/debian\n' ;;
    *) fail "there is no suite '$1' here; use buster or bullseye" ;;
  esac
}

make_system() {
  local suite=$1 system=$2 archive options=()
  archive=$(archive_of "$suite")
  # The key of an archived release may have left the keyring: its packages are only ever run in a chroot of this test.
  if [[ ! -e /usr/share/keyrings/debian-archive-$suite-stable.gpg ]]; then options+=(--no-check-gpg); fi
  say "making $suite in $system from $archive"
  if ! debootstrap --variant=minbase --include=gcc,libc6-dev,python3-minimal "${options[@]}" "$suite" "$system" "$archive" \
    >"$system.log" 2>&1; then
    tail -n 20 "$system.log" >&2
    fail "debootstrap failed; its full output is in $system.log"
  fi
  rm -f "$system.log"
}

build_victims() {
  local system=$1 victim
  mkdir -p "$system/victims/source"
  cp "$source_root"/tests/e2e/victims/*.[ch] "$system/victims/source"
  for victim in fork_busy issues_ends issues_forks issues_threads jumps_out numbered threads_die vfork_storm; do
    chroot "$system" gcc -O1 -o "/victims/$victim" "/victims/source/$victim.c" -pthread
  done
  say "$(chroot "$system" ldd --version | head -1)"
}

main() {
  if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    usage
    return 0
  fi
  local suite=${1:-bullseye} system=${2:-}
  if ((EUID != 0)); then fail "debootstrap and chroot need root; run this as root"; fi
  command -v debootstrap >/dev/null || fail "debootstrap is missing; apt-get install debootstrap"
  if [[ -z $system ]]; then
    system=$(mktemp --directory "${TMPDIR:-/tmp}/mlrun-older.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$system'" EXIT
  fi
  if [[ ! -x $system/usr/bin/gcc ]]; then make_system "$suite" "$system"; fi
  build_victims "$system"
  MLRUN_OLDER_SYSTEM=$system "$source_root/.venv/bin/python" -B \
    "$source_root"/tests/e2e/t361_a_container_of_an_older_distribution_is_traced.py
  say "passed"
}

main "$@"
