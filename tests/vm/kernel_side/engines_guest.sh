#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: the same reads and writes by every I/O engine, on two file systems, with the figures of fio and of the
# kernel's counters of the device and of the process. Every job has its own file and thread.
# Usage: engines_guest.sh BUILD
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$here/traced.sh"
streams=block,wait,vfs
readonly requests=32 kib=128

# jobs FOLDER DEVICE: a job file for fio, which writes down the device's counters before and after each job (JOB.prerun.txt).
jobs() {
  local folder=$1 device=$2 engine direct way name
  printf '[global]\nthread\nstonewall\nfile_service_type=sequential\nbs=4k\nsize=%dk\niodepth=4\ndirectory=%s\n' "$kib" "$folder"
  for engine in psync pvsync2 libaio io_uring splice mmap; do
    for direct in 0 1; do
      if ((direct)) && [[ $engine == splice || $engine == mmap ]]; then continue; fi
      for way in randread write; do
        name=$engine.$direct.$way
        printf '[%s]\nioengine=%s\ndirect=%s\nrw=%s\nfilename=%s\n' "$name" "$engine" "$direct" "$way" "$name"
        if [[ $way == write ]]; then printf 'end_fsync=1\n'; fi
        # shellcheck disable=SC2016
        printf 'exec_prerun=read counters </sys/block/%s/stat && echo $counters\n' "$device"
      done
    done
  done
}

# engines FILE-SYSTEM FOLDER DEVICE
engines() {
  local name=$1 folder=$2 device=$3 job
  mkdir -p "/run/counts/$name"
  jobs "$folder" "$device" >"/run/counts/$name/fio.job"
  for job in $(sed -n 's/^filename=//p' "/run/counts/$name/fio.job") own; do
    dd if=/dev/urandom of="$folder/$job" bs=4k count=$requests 2>/dev/null
  done
  (cd "$folder" && stat -c '%n %i %d' -- *) >"$out/$name.inodes"
  sync
  echo 3 >/proc/sys/vm/drop_caches
  traced "$name" "$device" sh -c "cd /run/counts/$name && cat /sys/block/$device/stat >$out/$name.inner_before &&
    fio --output-format=json --output=fio.json fio.job && python3 -B '$here/engines_own.py' $folder $device own.json &&
    sync && cat /sys/block/$device/stat >$out/$name.inner_after"
  for job in "/run/counts/$name"/*; do cp "$job" "$out/$name.$(basename "$job")"; done
}

engines ext4 /mnt/disk vda
if command -v mkfs.xfs >/dev/null; then
  modprobe null_blk nr_devices=1 irqmode=2 completion_nsec=5000000 gb=1 memory_backed=1
  mkfs.xfs -q /dev/nullb0 </dev/null
  mkdir -p /mnt/xfs
  mount /dev/nullb0 /mnt/xfs
  engines xfs /mnt/xfs nullb0
fi
