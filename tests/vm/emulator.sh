#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the command that starts QEMU, a word a line. Emulated guests need version 10: in Debian 12's 7.2 a processor may still
# execute an instruction that another one has just patched, as the kernel does with each trace event that is enabled. Then it
# hangs there (6.1) or meets a breakpoint that has no handler (6.12): on two busy processors, within seconds.
# The package that is installed is taken if it is new enough, else that of Debian's backports.
# Usage: emulator.sh [kvm]   kvm: the guest's code runs as it is, any version does. Exit status 77: cannot be had here.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"
readonly least=10 program=qemu-system-x86_64

is_new_enough() { (($("$1" --version | sed -n '1s/.*version \([0-9]*\).*/\1/p') >= least)); }

fetch() {
  needs_tools apt-get dpkg
  make_lists
  unpack_packages "$root.new" qemu-system-{x86,common,data}/bookworm-backports seabios/bookworm-backports
  # The libraries that it needs are those of the installed package.
  local said
  said=$("$root.new/usr/bin/$program" --version 2>&1) || cannot "it does not start: $said"
  mv -T "$root.new" "$root"
}

command -v $program >/dev/null || { what=QEMU && cannot "install qemu-system-x86"; }
if [[ ${1:-} == kvm ]] || is_new_enough $program; then
  echo $program
else
  what="QEMU $least"
  suites=("debian bookworm-backports")
  root=$(fetch_once qemu fetch)
  printf '%s\n' "$root/usr/bin/$program" -L "$root/usr/share/seabios" -L "$root/usr/share/qemu"
fi
