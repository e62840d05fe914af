#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that README's two commands need nothing but a bare Debian 12: makes one with debootstrap (variant minbase), puts
# a clone of this checkout's HEAD in it, and runs tests/demo and tests/run there, each twice. What is mounted is mounted
# in a mount namespace, and what is started is started in a PID namespace of our own: both are gone when this script ends,
# however it ends.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
readonly here source_root suite=bookworm checkout=/srv/mlrun
# shellcheck source-path=SCRIPTDIR source=host_settings.sh
source "$here/host_settings.sh"

usage() {
  cat <<'USAGE'
Usage: tests/bare/debootstrap.sh [--dir DIR] [--keep] [--demo-only | --tests-only | --setup-only]

Runs tests/demo and tests/run in a bare Debian 12 and reports. Needs root, debootstrap, git and the network; takes 10 GB
and as long as both commands from nothing (tests/README.md).
  --dir DIR      where to make the system (a new folder in /tmp); DIR must not exist
  --keep         leave the system there afterwards
  --demo-only    only tests/demo, twice
  --tests-only   only tests/run, from nothing: its time with installation and build
  --setup-only   only install: tests/setup/install.sh test instead of the two commands
USAGE
}

say() { printf 'bare: %s\n' "$*"; }

fail() {
  printf 'bare: error: %s\n' "$*" >&2
  exit 1
}

read_options() {
  system="" keep=0 what=all
  while (($# > 0)); do
    case $1 in
      --dir)
        (($# > 1)) || fail "--dir needs a folder"
        system=$2
        shift
        ;;
      --keep) keep=1 ;;
      --demo-only) what=demo ;;
      --tests-only) what=tests ;;
      --setup-only) what=setup ;;
      -h | --help)
        usage
        exit 0
        ;;
      *)
        usage >&2
        fail "there is no option '$1'"
        ;;
    esac
    shift
  done
}

check_requirements() {
  local program
  if ((EUID != 0)); then fail "debootstrap and chroot need root; run this as root"; fi
  for program in debootstrap git; do
    command -v "$program" >/dev/null || fail "$program is missing; apt-get install $program"
  done
  if [[ -e $system ]]; then fail "$system exists; choose another --dir"; fi
}

make_system() {
  local archive log=$system.log
  archive=$(host_archive "$suite")
  say "making a bare Debian 12 in $system"
  if ! debootstrap --variant=minbase "$suite" "$system" ${archive:+"$archive"} >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "debootstrap failed; its full output is in $log"
  fi
  rm -f "$log"
  copy_host_settings "$system"
  git clone --quiet --depth 1 "file://$source_root" "$system$checkout"
  say "$(git -C "$source_root" log -1 --format='cloned %h %s')"
}

# Its root becomes ours, as a container's does: the kernel side names a file by the root of its mount namespace, which in
# a chroot is the host's. Requires: a mount namespace of our own.
enter_system() {
  mount --bind "$system" "$system"
  mount -t proc proc "$system/proc"
  mount -t sysfs -o ro sysfs "$system/sys"
  mount --rbind /sys/fs/cgroup "$system/sys/fs/cgroup"
  mount --rbind /dev "$system/dev"
  mount -t tmpfs -o size=50%,mode=1777 shm "$system/dev/shm"
  mount -t tmpfs -o mode=1777 tmp "$system/tmp"
  bind_pip_folders "$system"
  mapfile -t network < <(network_variables)
  cd "$system"
  pivot_root . .
  umount -l .
  cd "$checkout"
}

# Runs "$@" in the checkout, with nothing of the host's environment but the way to packages.
inside() {
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    TERM="${TERM:-dumb}" "${network[@]}" "$@"
}

# step TITLE COMMAND...: runs it inside, prints how long it took and remembers whether it failed.
step() {
  local title=$1 begin=$SECONDS status=0
  shift
  say "--- $title: $*"
  inside "$@" || status=$?
  report+=("$(printf '%-34s status %-4s %5d s' "$title" "$status" $((SECONDS - begin)))")
  if ((status != 0)); then failed=1; fi
}

# Without root the commands must say what is to be installed, and fail.
check_without_root() {
  local said
  if said=$(inside setpriv --reuid=65534 --regid=65534 --clear-groups tests/demo 2>&1); then
    failed=1
    report+=("without root: tests/demo succeeded on a bare system")
  elif grep -q 'apt-get install .*cmake' <<<"$said" && grep -q 'pip install .*torch' <<<"$said"; then
    report+=("without root: names what to install")
  else
    failed=1
    report+=("without root: did not say what to install, but: $said")
  fi
}

check_trace() {
  if [[ -s $checkout/build/demo/trace-$1/run.json ]]; then return 0; fi
  failed=1
  report+=("tests/demo left no trace in build/demo/trace-$1")
}

run_commands() {
  report=() failed=0
  check_without_root
  if [[ $what == setup ]]; then
    step "install" tests/setup/install.sh test
    step "install again" tests/setup/install.sh test
  fi
  if [[ $what == all || $what == demo ]]; then
    step "first command" tests/demo
    check_trace 1
    step "first command again" tests/demo
    check_trace 2
  fi
  if [[ $what == all || $what == tests ]]; then
    step "second command" tests/run
    step "second command again, no test" tests/run --show-only
  fi
  say "--- report"
  printf 'bare: %s\n' "${report[@]}"
  if ((failed)); then fail "the proof failed"; fi
  say "passed"
}

remove_system() {
  if ((keep)); then
    say "the system is kept in $system"
  else
    rm -rf --one-file-system "$system" "$system.log"
  fi
}

main() {
  read_options "$@"
  system=${system:-$(mktemp --dry-run "${TMPDIR:-/tmp}/mlrun-bare.XXXXXX")}
  check_requirements
  trap remove_system EXIT
  make_system
  unshare --mount --propagation private --pid --fork --kill-child -- \
    bash "$here/debootstrap.sh" --inside "$system" "$what"
}

if [[ ${1:-} == --inside ]]; then
  system=$2 what=$3
  enter_system
  run_commands
else
  main "$@"
fi
