# SPDX-License-Identifier: Apache-2.0
# The second half of split_guest.sh: page faults, asynchronous reads, groups of syncs, with the operations on files, too.
# shellcheck shell=bash disable=SC2154
streams=block,wait,vfs
echo 64 >$queue/max_sectors_kb
traced fragments nullb0 dd if=$null of=/dev/null bs=4M count=1 iflag=direct

slow_device 64 cache_size=16
file_system
dd if=/dev/urandom of=/mnt/n/f bs=1M count=1 2>/dev/null
dd if=/dev/urandom of=/mnt/n/mapped bs=1M count=1 2>/dev/null
forget
stat /mnt/n/f >/dev/null

# Three faults of its own, and one while the kernel takes what is to be written from a mapped file; three processes that all
# write, and only then all sync; a mapped file that is synced. In one run: its probes take seconds here to come and go.
traced operations nullb0 /usr/bin/python3 -c '
import mmap, os, sys
folder = sys.argv[1]
fd = os.open(f"{folder}/f", os.O_RDONLY)
mapped = mmap.mmap(fd, 1 << 20, prot=mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
for page in (0, 16, 32):
    mapped[page * 4096]
os.write(os.open(f"{folder}/copy", os.O_WRONLY | os.O_CREAT), memoryview(mapped)[128 * 4096:129 * 4096])

ready, go = os.pipe(), os.pipe()
for number in range(3):
    if os.fork() == 0:
        os.close(go[1])
        fd = os.open(f"{folder}/group{number}", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"x" * 65536)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os.fsync(fd)
        os._exit(0)
for _ in range(3):
    os.read(ready[0], 1)
os.close(go[1])
for _ in range(3):
    os.wait()

changed = mmap.mmap(os.open(f"{folder}/mapped", os.O_RDWR), 1 << 20)
changed[:65536] = b"y" * 65536
changed.flush()' /mnt/n
stat -c '%n %i' /mnt/n/* >"$out/operations.inodes"

forget
stat /mnt/n/f >/dev/null
traced handed_in nullb0 fio --name=j --filename=/mnt/n/f --rw=read --bs=4k --size=64k --direct=1 --ioengine=libaio \
  --iodepth=16 --iodepth_batch_submit=16 --thread --minimal
streams=block,wait traced libc_alone nullb0 dd if=/mnt/n/f of=/dev/null bs=12k count=3
LD_PRELOAD=$slow_library streams=block,wait traced libc nullb0 dd if=/mnt/n/f of=/dev/null bs=12k count=3
umount /mnt/n

# Through device mapper, of which only the device below takes time: one that sends on what it is given, and one that keeps data until a
# worker of its own has put them into another form; what is written to that, the worker sends on.
modprobe dm_mod
modprobe dm_crypt
dmsetup --noudevsync create linear --table "0 200000 linear $null 2048" </dev/null
dmsetup --noudevsync create crypt --table "0 200000 crypt aes-xts-plain64 $(printf '%064d' 7) 0 $null 204800" </dev/null
dmsetup mknodes
traced mapper nullb0 sh -ec 'dd if=/dev/mapper/linear of=/dev/null bs=1M count=1 iflag=direct
  dd if=/dev/mapper/linear of=/dev/null bs=32k count=1 skip=64
  dd if=/dev/mapper/crypt of=/dev/null bs=64k count=2 iflag=direct
  dd if=/dev/zero of=/dev/mapper/crypt bs=64k count=2 seek=32 oflag=direct'
dmsetup --noudevsync remove crypt
dmsetup --noudevsync remove linear

streams=block,wait
# What is read ahead is cut in two, one half after the other, and its first page is there when both are.
slow_device 1
echo 64 >$queue/max_sectors_kb
echo 128 >$queue/read_ahead_kb
forget
traced cut nullb0 dd if=$null of=/dev/null bs=64k count=1
