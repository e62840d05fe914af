#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: workloads with known block I/O, with the device's counters before and after.
# Usage: block_guest.sh BUILD
set -euo pipefail
build=$1
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"

slow_device 64
traced direct nullb0 dd if=/dev/nullb0 of=/dev/null bs=64k count=8 iflag=direct
# The kernel's own events record the thread that ran on the processor where a request completed and where a thread was woken. For it to
# have a name, each processor has a busy thread, not its process's first one, that takes the remaining time.
check=/sys/kernel/tracing/instances/check
mount -t tracefs none /sys/kernel/tracing 2>/dev/null || [[ -e /sys/kernel/tracing/trace ]]
mkdir $check
echo mono >$check/trace_clock
busy=()
for ((cpu = 0; cpu < $(nproc); cpu++)); do
  /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/busy_thread.py" $cpu /run/busy$cpu &
  busy+=($!)
  until [[ -s /run/busy$cpu ]]; do sleep 0.1; done
done
for event in block/block_rq_complete sched/sched_waking; do echo 1 >$check/events/$event/enable; done
traced busy nullb0 dd if=/dev/nullb0 of=/dev/null bs=64k count=8 iflag=direct
for event in block/block_rq_complete sched/sched_waking; do echo 0 >$check/events/$event/enable; done
kill "${busy[@]}"
cat /run/busy* >"$out/busy.threads"
grep -e block_rq_complete -e comm=dd $check/trace >/run/events
cp /run/events "$out/busy.events"
rmdir $check
echo 128 >/sys/block/vda/queue/max_sectors_kb
streams=block,wait,vfs traced split vda dd if=/dev/vda of=/dev/null bs=4M count=1 iflag=direct
streams=block,wait,vfs traced merged nullb0 fio --name=j --filename=/dev/nullb0 --rw=read --bs=4k --size=64k --direct=1 --ioengine=libaio \
  --iodepth=16 --iodepth_batch_submit=16 --thread --minimal
# More on their way at once than there is room for, all from one processor. Reads and those that were merged: what fio asked for.
processor=$(($(nproc) - 1))
streams=block,wait,vfs MLRUN_IN_FLIGHT_MAX=8 traced crowded nullb0 fio --name=j --filename=/dev/nullb0 --rw=randread --bs=4k --size=64M --number_ios=96 \
  --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_submit=32 --thread --cpus_allowed=$processor --minimal
echo $processor >"$out/crowded.processor"
# Eight threads read from a server at once, each by its own requests: its files are not cached. The kernel's own events record each request.
head -c 524288 /dev/urandom >"$out/served.data"
mkdir $check
echo 1 >$check/events/9p/9p_client_req/enable
MLRUN_IN_FLIGHT_MAX=2 traced served vda fio --name=j --filename="$out/served.data" --rw=randread --bs=4k --size=512k --number_ios=16 \
  --numjobs=8 --ioengine=psync --thread --minimal
echo 0 >$check/events/9p/9p_client_req/enable
cat $check/trace >/run/events
cp /run/events "$out/served.events"
rmdir $check
# Between a bio of this disk and what is made of it another 31 find their place: of eight it is known.
modprobe dm-delay
dmsetup --noudevsync create late --table "0 65536 delay /dev/nullb0 0 60" </dev/null
dmsetup mknodes
MLRUN_KEPT_MAX=8 traced displaced nullb0 fio --name=j --filename=/dev/mapper/late --rw=randread --bs=4k --size=32M --number_ios=96 \
  --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_submit=32 --thread --minimal
traced delayed nullb0 fio --name=j --filename=/dev/mapper/late --rw=randread --bs=4k --size=32M --number_ios=96 \
  --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_submit=32 --thread --minimal
dmsetup --noudevsync remove late
# What others write before and after is not recorded: the counters are also read by the commands themselves.
# shellcheck disable=SC2016
traced fsync vda bash -c 'cat /sys/block/vda/stat >"$0.inner_before"
  dd if=/dev/zero of=/mnt/disk/synced bs=1M count=4 conv=fsync 2>/dev/null; cat /sys/block/vda/stat >"$0.inner_after"' "$out/fsync"
echo 3 >/proc/sys/vm/drop_caches
traced cold vda dd if=/mnt/disk/synced of=/dev/null bs=64k
traced warm vda dd if=/mnt/disk/synced of=/dev/null bs=64k
streams=syscalls traced syscalls vda dd if=/mnt/disk/synced of=/dev/null bs=64k

# An untraced process syncs the pages that the command made dirty.
(until [[ -e /tmp/dirty ]]; do sleep 0.1; done && sync && touch /tmp/clean) &
# shellcheck disable=SC2016
traced writeback vda bash -c 'cat /sys/block/vda/stat >"$0.inner_before"
  dd if=/dev/zero of=/mnt/disk/late bs=64k count=16 2>/dev/null; touch /tmp/dirty
  until [[ -e /tmp/clean ]]; do sleep 0.1; done; cat /sys/block/vda/stat >"$0.inner_after"' "$out/writeback"

# Two programs make pages of a file dirty, one after the other, and an untraced process syncs them.
cp "$(command -v dd)" /run/last_writer
sync
(until [[ -e /tmp/both ]]; do sleep 0.1; done && sync && touch /tmp/none_dirty) &
# shellcheck disable=SC2016
traced last_writer vda bash -c 'dd if=/dev/zero of=/mnt/disk/twice bs=64k count=16 2>/dev/null
  /run/last_writer if=/dev/zero of=/mnt/disk/twice bs=64k count=16 seek=16 conv=notrunc 2>/dev/null &
  echo $! >"$0.pid"; wait; touch /tmp/both
  until [[ -e /tmp/none_dirty ]]; do sleep 0.1; done' "$out/last_writer"

# The last writers of eight files are kept. An untraced process syncs all of them, and files of its own, which have no last writer.
(until [[ -e /tmp/many ]]; do sleep 0.1; done
  for i in {1..16}; do printf %4096s "" >"/mnt/disk/stranger$i"; done
  sync && touch /tmp/many_clean) &
# shellcheck disable=SC2016
MLRUN_KEPT_MAX=8 traced forgotten vda bash -c 'for i in {1..64}; do printf %4096s "" >/mnt/disk/many$i; done; touch /tmp/many
  until [[ -e /tmp/many_clean ]]; do sleep 0.1; done'
stat -c '%n %i %d' /mnt/disk/many* >"$out/forgotten.inodes"

stat -c '%n %i %d' /mnt/disk/synced /mnt/disk/late /mnt/disk/twice >"$out/inodes"

# One request at a time, so that those of four readers wait in the queue, for longer and for less long.
if command -v blktrace >/dev/null; then
  slow_device 1
  (cd /run && exec setsid blktrace -d /dev/nullb0 -a complete -a queue -a issue -o blk) >"$out/blktrace.said" 2>&1 &
  tracer=$!
  until [[ -e /run/blk.blktrace.0 ]]; do
    kill -0 $tracer
    sleep 0.1
  done
  observe beside block,wait --system
  cat /sys/block/nullb0/stat >"$out/beside.before"
  fio --name=j --filename=/dev/nullb0 --rw=randread --bs=32k --size=256M --number_ios=24 --direct=1 --ioengine=libaio \
    --iodepth=4 --thread --minimal >"$out/fio.said"
  cat /sys/block/nullb0/stat >"$out/beside.after"
  observed TERM
  kill -INT $tracer || cat "$out/blktrace.said"
  wait $tracer || true
  (cd /run && blkparse -q -i blk -f '%a %d %S %n %5T.%9t\n' >"$out/blkparse.txt" 2>/dev/null) || true
fi

# A part of a disk.
slow_device 64
addpart /dev/nullb0 1 8192 65536
cat /sys/block/nullb0/nullb0p1/dev /sys/block/nullb0/dev >"$out/partition.devices"
traced partition nullb0 dd if=/dev/nullb0p1 of=/dev/null bs=64k count=2 skip=3 iflag=direct

# More dirty pages than allowed: the kernel throttles the writer, and its own events record that.
slow_device 1
events=/sys/kernel/tracing
mount -t tracefs none $events 2>/dev/null || [[ -e $events/trace ]]
echo 1 >$events/events/writeback/balance_dirty_pages/enable
echo $((1 << 20)) >/proc/sys/vm/dirty_bytes
traced throttled nullb0 dd if=/dev/zero of=/dev/nullb0 bs=64k count=64
echo 20 >/proc/sys/vm/dirty_ratio
echo 0 >$events/events/writeback/balance_dirty_pages/enable
cp $events/trace "$out/throttled.events"

# A request that takes longer than 32 bits of nanoseconds hold.
if [[ -e /dev/nullb0 ]]; then rmmod null_blk; fi
modprobe null_blk nr_devices=1 irqmode=2 completion_nsec=4500000000 queue_mode=2 gb=1 memory_backed=1
traced long nullb0 dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct

# What is neither read nor written, on a disk that has commands for it.
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 lbpu=1 lbpws=1 delay=0
until [[ -b /dev/sda && -s /sys/block/sda/size ]]; do sleep 0.1; done
traced kinds sda sh -c 'blkdiscard -o 1M -l 3M /dev/sda; blkdiscard -z -o 8M -l 2M /dev/sda
  dd if=/dev/zero of=/dev/sda bs=64k count=1 seek=256 oflag=direct'

# Two disks as one: in stripes of 64 KiB, and mirrored. No superblock, and no udev to see the new devices.
if command -v mdadm >/dev/null; then
  rmmod null_blk
  modprobe null_blk nr_devices=2 irqmode=2 completion_nsec=1000000 queue_mode=2 gb=1 memory_backed=1
  ways=(--chunk=64 --assume-clean)
  for level in 0 1; do
    modprobe raid$level
    MDADM_NO_UDEV=1 mdadm --build /dev/md0 --level=$level "${ways[level]}" --raid-devices=2 /dev/nullb0 /dev/nullb1 >"$out/mdadm.said" 2>&1
    # A part of it by device mapper, as LVM makes them.
    dmsetup --noudevsync create part --table "0 65536 linear /dev/md0 8192" </dev/null
    dmsetup mknodes
    cat /sys/block/nullb1/stat >"$out/raid$level.other_before"
    # shellcheck disable=SC2016
    streams=block,wait,vfs traced raid$level nullb0 sh -c 'for disk in /dev/md0 /dev/mapper/part; do
        dd if=/dev/zero of=$disk bs=256k count=4 seek=1 oflag=direct
        dd if=$disk of=/dev/null bs=256k count=4 skip=1 iflag=direct
      done'
    cat /sys/block/nullb1/stat >"$out/raid$level.other_after"
    dmsetup --noudevsync remove part
    MDADM_NO_UDEV=1 mdadm --stop /dev/md0 >>"$out/mdadm.said" 2>&1
  done
fi

# as_told NAME COMMAND...: beside us the kernel's own trace of requests that are issued, given back and complete, as NAME.events.
as_told() {
  echo >$events/trace
  for event in block_rq_issue block_rq_requeue block_rq_complete; do echo 1 >$events/events/block/$event/enable; done
  traced "$1" sda "${@:2}"
  for event in block_rq_issue block_rq_requeue block_rq_complete; do echo 0 >$events/events/block/$event/enable; done
  cp $events/trace "$out/$1.events"
}

# Every fourth command finds the disk busy; sectors 4660 to 4669 cannot be read.
disk=/sys/bus/pseudo/drivers/scsi_debug
echo 0x8000 >$disk/opts
echo 4 >$disk/every_nth
as_told requeued dd if=/dev/sda of=/dev/null bs=64k count=16 iflag=direct
echo 0 >$disk/every_nth
echo 2 >$disk/opts
as_told failing sh -c 'dd if=/dev/sda of=/dev/null bs=64k count=1 skip=36 iflag=direct; true'
# Every fourth command does a part of what it was asked for, and no more.
echo 0x100 >$disk/opts
echo 4 >$disk/every_nth
as_told partial dd if=/dev/sda of=/dev/null bs=64k count=16 iflag=direct
echo 0 >$disk/every_nth
echo 0 >$disk/opts

# A disk on top that fails by itself: no request is made.
dmsetup --noudevsync create broken --table "0 65536 flakey /dev/sda 0 0 60" </dev/null
dmsetup mknodes
traced broken sda sh -c 'dd if=/dev/mapper/broken of=/dev/null bs=64k count=1 iflag=direct
  dd if=/dev/zero of=/dev/mapper/broken bs=64k count=1 oflag=direct; true'
dmsetup --noudevsync remove broken

# A disk with two controllers, each of which takes every other request. The controller that is recorded first gives the disk its number.
modprobe nvme
paths=(/sys/block/nvme?c?n1)
until ((${#paths[@]} == 2)); do sleep 0.1 && paths=(/sys/block/nvme?c?n1); done
disk=/dev/$(basename /sys/block/nvme?n1)
until [[ -b $disk ]]; do sleep 0.1; done
echo round-robin | tee /sys/class/nvme-subsystem/*/iopolicy >"$out/iopolicy"
cat "${paths[1]}/stat" >"$out/paths.other_before"
# shellcheck disable=SC2016
traced paths "$(basename "${paths[0]}")" sh -c 'dd if=/dev/zero of=$0 bs=64k count=8 seek=8 oflag=direct
  dd if=$0 of=/dev/null bs=64k count=8 skip=8 iflag=direct' "$disk"
cat "${paths[1]}/stat" >"$out/paths.other_after"
basename -a "${paths[@]}" >"$out/paths.names"
cut -d ' ' -f 1 /proc/uptime >"$out/done"
