#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: known operations on files of two file systems, and on one where mechanisms to record them are disabled.
# Usage: vfs_guest.sh BUILD PYTHON
set -euo pipefail
build=$1
python=$2
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"
streams=block,wait,vfs

# Nothing but dd writes to the file, so that reads through the page cache find it there.
# shellcheck disable=SC2016
readonly operations='cd "$0"
dd if=/dev/zero of=f bs=4k count=16 conv=fsync
dd if=f of=/dev/null bs=4k count=16
dd if=f of=/dev/null bs=4k count=16 iflag=direct
dd if=/dev/zero of=g bs=4k count=8 oflag=direct conv=fdatasync
fio --ioengine=psync --thread --invalidate=0 --filename=f --rw=read --bs=8k --size=64k --name=a --direct=0 --stonewall --name=b --direct=1
mkdir d
mv g d/h
truncate -s 4096 d/h
rm d/h
rmdir d
rm -f d/none
long=$(printf "%0255d" 0)
deep=$(printf "folder/%.0s" 1 2 3 4 5 6 7 8 9 10)
mkdir -p "$deep"
mkdir "$deep$long"
mv "$deep$long" "${long%0}1"
rm -r "${long%0}1" folder
stat -c "%n %i %d" f >inodes'

(cd /mnt/disk && COLUMNS=2000 "$build/bin/mlrun" doctor) >"$out/doctor"
# Each file system is another's turn, and all of them one run: its probes take many seconds here to come and go.
modprobe null_blk nr_devices=3 gb=1 memory_backed=1
folders=(/mnt/disk)
for type in xfs btrfs f2fs; do
  if ! command -v mkfs.$type >/dev/null; then continue; fi
  device=/dev/nullb$((${#folders[@]} - 1))
  mkfs.$type -q $device </dev/null
  mkdir -p /mnt/$type
  mount -t $type $device /mnt/$type
  folders+=("/mnt/$type")
done
# shellcheck disable=SC2016
traced each vda sh -ec 'for folder; do sh -c "$0" "$folder"; done' "$operations" "${folders[@]}"
for folder in "${folders[@]}"; do
  cp "$folder/inodes" "$out/$(basename "$folder").inodes"
done
umount "${folders[@]:1}"

# A loader with two workers, whose files are not in the page cache, and then are; on a disk that takes 20 ms for a request,
# beside which the emulator's own time for an interrupt is short.
slow_device 64
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/nullb0 </dev/null
mkdir -p /mnt/slow
mount /dev/nullb0 /mnt/slow
mkdir /mnt/slow/samples
/usr/bin/python3 -c '
header = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (65536,), }".ljust(117) + b"\n"
for number in range(8):
    with open(f"/mnt/slow/samples/{number}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes([number]) * (1 << 18))'
sync
echo 3 >/proc/sys/vm/drop_caches
traced loader nullb0 "$python" -c '
import numpy, os, sys
for turn in range(2):
    for worker in range(2):
        if os.fork() == 0:
            arrays = [numpy.load(f"/mnt/slow/samples/{number}.npy") for number in range(worker, 8, 2)]
            os._exit(0 if all(len(array) == 1 << 16 for array in arrays) else 1)
    if any(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)):
        sys.exit(1)'
stat -c '%n %i %d' /mnt/slow/samples/* >"$out/loader.inodes"
umount /mnt/slow

# mlrun is killed while a program reads, and the program continues.
alone
touch /run/reads
"$(dirname "${BASH_SOURCE[0]}")/killed.py" "$build/bin/mlrun" $traces/killed "$out/killed.json" sh -c \
  'while [ -e /run/reads ]; do dd if=/mnt/disk/f of=/dev/null bs=4k 2>/dev/null; done; touch /run/went_on'
rm /run/reads
until [[ -e /run/went_on ]]; do sleep 0.1; done

# A ring that is too small for what a program does.
dd if=/dev/zero of=/mnt/disk/many bs=4k count=500
mkdir -p /run/spools
"$(dirname "${BASH_SOURCE[0]}")/small_ring.py" "$build/bin/mlrun-probes" /mnt/disk/many /run/spools "$out/small_ring.json"
alone

# Another user than root, by the capabilities of the program's file. Files on 9p have none, and the file is root's.
installed=/mnt/disk/installed
mkdir -p $installed/bin $installed/lib
cp "$build"/bin/{mlrun,mlrun-probes,mlrun-trace} $installed/bin/
cp "$build/lib/libmlrun_preload.so" $installed/lib/
chmod -R a+rX /mnt/disk
$installed/bin/mlrun doctor --fix --yes
cp "$(command -v dd)" /mnt/disk/raised_dd
chmod 4755 /mnt/disk/raised_dd
(umask 077 && echo 0123456789 >/mnt/disk/secret)
(cd /mnt/disk && stat -c '%n %i %d' f secret raised_dd installed/lib/libmlrun_preload.so) >"$out/user.inodes"
mkdir -m 777 $traces/of_user
setpriv --reuid=65534 --regid=65534 --clear-groups $installed/bin/mlrun --preload --kprobes="require,$streams" --defer-merge --quiet \
  -o $traces/of_user/user sh -c 'dd if=/mnt/disk/f of=/dev/null bs=4k count=16; /mnt/disk/raised_dd if=/mnt/disk/secret of=/dev/null'
cp -r $traces/of_user/user "$out/user"
rm -r $installed /mnt/disk/raised_dd /mnt/disk/secret

# One without the functions that normally record opens.
rm /mnt/disk/{f,inodes}
MLRUN_WITHOUT_FUNCTIONS=do_filp_open,do_file_open traced opens vda sh -c "$operations" /mnt/disk
cp /mnt/disk/inodes "$out/opens.inodes"

# A kernel without BTF of its modules: fentry is unavailable there, kprobes work.
copy='dd if=/mnt/disk/f of=/dev/null bs=4k count=16'
mkdir /run/types
cp /sys/kernel/btf/vmlinux /run/types/
mount --bind /run/types /sys/kernel/btf
# shellcheck disable=SC2086
traced kprobe vda $copy
# One in which functions can be probed but the probes never fire; Linux 7 cannot be put into this state.
if sysctl -q kernel.ftrace_enabled=0 2>/dev/null; then
  # shellcheck disable=SC2086
  wish=auto traced silent vda $copy # =require refuses, since nothing comes by that name
  # Without the library, system calls are the fallback, and give the same rows as the functions do.
  options=(--preload=off)
  rm /mnt/disk/f
  traced calls vda sh -c "$operations" /mnt/disk
  sysctl -q kernel.ftrace_enabled=1
  umount /sys/kernel/btf
  rm /mnt/disk/f
  traced functions vda sh -c "$operations" /mnt/disk
fi
