#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: calls whose time labels are known, on a device that takes 20 ms for a request.
# Usage: split_guest.sh BUILD
set -euo pipefail
build=$1
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"
null=/dev/nullb0
queue=/sys/block/nullb0/queue

forget() {
  sync
  echo 3 >/proc/sys/vm/drop_caches
}

file_system() {
  umount /mnt/n 2>/dev/null || true
  mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard $null </dev/null
  mkdir -p /mnt/n
  mount $null /mnt/n
}

slow_device 64
traced direct nullb0 dd if=$null of=/dev/null bs=4k count=5 iflag=direct

# Computes for a while, then asks the device: on a processor of its own, and on one that it shares with two threads that do not sleep. The
# scheduler runs a thread that has slept long at once, so that without the computing the others would have no effect.
slow_library=$build/vm/slow_read.so
reads=(taskset -c 0 dd if="$null" of=/dev/null bs=12k count=12 iflag=direct)
LD_PRELOAD=$slow_library traced alone nullb0 "${reads[@]}"
for _ in 1 2; do taskset -c 0 sh -c 'while :; do :; done' & done
LD_PRELOAD=$slow_library traced crowded nullb0 "${reads[@]}"
kill %1 %2

file_system
dd if=/dev/urandom of=/mnt/n/f bs=1M count=1 2>/dev/null
mkdir -p /mnt/n/d/e
echo x >/mnt/n/d/e/f
forget
stat /mnt/n/f >/dev/null
# The second one asks for a page that the first one is already reading; on a busy machine not each time, so several times.
# shellcheck disable=SC2016
traced shared nullb0 /usr/bin/python3 -c '
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
os.pread(fd, 4096, 262144)
for number in range(8):
    if os.fork() == 0:
        time.sleep(0.008 if number == 0 else 0)
        os.pread(fd, 4096, number * 16384)
        os._exit(0)
    os.pread(fd, 4096, number * 16384)
    os.wait()' /mnt/n/f
forget
stat /mnt/n/f >/dev/null
traced sequential nullb0 dd if=/mnt/n/f of=/dev/null bs=16k count=48
traced warm nullb0 dd if=/mnt/n/f of=/dev/null bs=16k count=48
umount /mnt/n
mount $null /mnt/n
forget
traced stat nullb0 stat /mnt/n/d/e/f
umount /mnt/n

# With a cache that has to be flushed.
slow_device 64 cache_size=16
file_system
for way in fsync fdatasync; do
  traced $way nullb0 dd if=/dev/zero of=/mnt/n/$way bs=64k count=1 conv=$way
done
traced through nullb0 dd if=/dev/zero of=/mnt/n/through bs=4k count=2 oflag=sync
umount /mnt/n

# One request at a time.
slow_device 1
echo 127 >$queue/max_sectors_kb
echo 512 >$queue/read_ahead_kb
forget
traced ahead nullb0 dd if=$null of=/dev/null bs=16k count=64
# Three others fill the queue for as long as it takes.
# shellcheck disable=SC2016
traced busy nullb0 sh -c 'for at in 10000 90000 170000; do dd if=$0 of=/dev/null bs=4k skip=$at iflag=direct 2>/dev/null & others="$others $!"; done
  for other in $others; do
    until grep -q "^read_bytes: [1-9]" /proc/$other/io; do kill -0 $other || exit 1; sleep 0.1; done
  done
  dd if=$0 of=/dev/null bs=8k count=3 skip=256 iflag=direct
  kill $others' $null

# shellcheck source=tests/vm/kernel_side/split_ops_guest.sh
source "$(dirname "${BASH_SOURCE[0]}")/split_ops_guest.sh"
