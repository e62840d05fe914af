#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: every program of the kernel side is loaded once, and known reads and writes are recorded, on an old but
# common kernel. Without null_blk, which is not in its fetched packages.
# Usage: oldest_guest.sh BUILD
set -euo pipefail
build=$1
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"

(cd /mnt/disk && COLUMNS=2000 "$build/bin/mlrun" doctor) >"$out/doctor"
"$build/bin/mlrun" --kprobes=require,cufile,torch --defer-merge --quiet -o "$traces/libraries" -- true
"$build/bin/mlrun" --kprobes=require,cuda --stacks --defer-merge --quiet -o "$traces/cuda" --pid $$ --duration 1
streams=syscalls traced syscalls vda dd if=/dev/zero of=/mnt/disk/counted bs=4k count=16
streams=block,wait,vfs
# At the end one program makes all pages of a file dirty and another one overwrites a few of them; the process that syncs them is untraced.
cp "$(command -v dd)" /run/last_writer
(until [[ -e /run/over ]]; do sleep 0.1; done && sync && touch /run/clean) &
# shellcheck disable=SC2016
traced both vda sh -ec 'dd if=/dev/zero of=$0 bs=4k count=32 conv=fsync; dd if=$0 of=/dev/null bs=4k iflag=direct
  mkdir $0.folder; mv $0 $0.folder/moved; rm -r $0.folder
  dd if=/dev/zero of=$0.over bs=64k count=16; /run/last_writer if=/dev/zero of=$0.over bs=4k count=3 seek=7 conv=notrunc
  touch /run/over; until [ -e /run/clean ]; do sleep 0.1; done' /mnt/disk/file
stat -c '%n %i %d' /mnt/disk/file.over >"$out/both.inodes"
options=(--preload=off)
traced alone vda sh -ec 'dd if=/dev/zero of=$0 bs=4k count=32 conv=fsync; dd if=$0 of=/dev/null bs=4k iflag=direct' /mnt/disk/other
dd if=/dev/zero of=/mnt/disk/observed bs=64k count=16 conv=fsync 2>/dev/null
observe system block,wait,vfs --system
dd if=/mnt/disk/observed of=/dev/null bs=64k iflag=direct
stat -c '%n %i %d' /mnt/disk/observed >"$out/system.inodes"
observed TERM
