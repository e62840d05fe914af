#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: files of servers, by 9P (the machine outside), FUSE (a server that takes 20 ms for each read) and NFS
# (this kernel's own server, cold and warm); and what the kernel's own trace events say of the requests.
# Usage: remote_guest.sh BUILD
set -euo pipefail
build=$1
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"
events=/sys/kernel/tracing/instances/check

# watched NAME GROUP COMMAND...: beside us the kernel's trace of a group's events, as NAME.events, and what it counts for each
# mount, as NAME.mounts_before and NAME.mounts_after.
watched() {
  local name=$1 group=$2
  shift 2
  mkdir -p $events
  echo >$events/trace
  echo 1 >"$events/events/$group/enable"
  cat /proc/self/mountstats >/run/mounts_before
  traced "$name" vda "$@"
  cat /proc/self/mountstats >/run/mounts_after
  echo 0 >"$events/events/$group/enable"
  cat $events/trace >/run/events
  cp /run/events "$out/$name.events"
  cp /run/mounts_before "$out/$name.mounts_before"
  cp /run/mounts_after "$out/$name.mounts_after"
}

# Answers to the kernel's server are given beforehand, so that no daemon is needed: one client, one export, its root.
# 9234: insecure port, asynchronous, no check of subtrees, with an fsid.
export_by_nfs() {
  local folder=$1 forever=2000000000
  ip link set lo up 2>/dev/null || busybox ip link set lo up
  modprobe nfsd
  modprobe nfsv4
  echo 0 >/proc/sys/fs/leases-enable # nothing is delegated, so that each open asks
  mount -t nfsd nfsd /proc/fs/nfsd
  echo '-2 -3 +4 +4.1 +4.2' >/proc/fs/nfsd/versions # the older ones want to register with a daemon
  echo 10 >/proc/fs/nfsd/nfsv4leasetime
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  echo 'tcp 2049' >/proc/fs/nfsd/portlist
  echo 2 >/proc/fs/nfsd/threads
  { echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true # Linux 7 lets it end by itself alone
  echo "nfsd 127.0.0.1 $forever all" >/proc/net/rpc/auth.unix.ip/channel
  echo "all $folder $forever 9234 65534 65534 0" >/proc/net/rpc/nfsd.export/channel
  printf 'all 1 \\x00000000 %s %s\n' $forever "$folder" >/proc/net/rpc/nfsd.fh/channel
}

head -c 8000000 /dev/urandom >"$out/data"
# The folder from outside keeps nothing in memory: every read goes to the server. It is quick: many reads, so that some of them sleep.
watched nine 9p dd if="$out/data" of="$out/copy" bs=64k
rm "$out/copy"
head -c 2000000 "$out/data" >/mnt/disk/data
traced local vda dd if=/mnt/disk/data of=/dev/null bs=64k
# What mlrun's caller has open is not kept open by the program that outlives mlrun; its own file is.
# shellcheck disable=SC2016
traced open_files vda sh -c 'readlink /proc/$(pgrep -x mlrun-probes)/fd/*' 7</mnt/disk/data
grep -q '/kernel\.bin$' "$out/open_files.said" && ! grep /mnt/disk/data "$out/open_files.said" >&2 || exit 1

modprobe fuse 2>/dev/null || true # may be part of the kernel
mkdir -p /mnt/fuse
"$(dirname "${BASH_SOURCE[0]}")/slow_fuse.py" /mnt/fuse 655360 &
server=$!
until mountpoint -q /mnt/fuse; do
  kill -0 $server || exit 1
  sleep 0.1
done
traced fuse vda dd if=/mnt/fuse/data of=/dev/null bs=64k
umount /mnt/fuse

export_by_nfs /mnt/disk
mkdir -p /mnt/nfs
# What is known of a file stays so for as long as we take: else a read may ask for its attributes again.
busybox mount -t nfs4 -o actimeo=600,vers=4.1,addr=127.0.0.1,clientaddr=127.0.0.1,proto=tcp 127.0.0.1:/ /mnt/nfs
# With file operations a request has its file, and a call may wait for what an earlier one has begun.
streams=block,wait,vfs
watched nfs_cold sunrpc dd if=/mnt/nfs/data of=/dev/null bs=64k
streams=block,wait
watched nfs_warm sunrpc dd if=/mnt/nfs/data of=/dev/null bs=64k
watched nfs_write sunrpc dd if=/dev/zero of=/mnt/nfs/new bs=64k count=16 conv=fsync
umount /mnt/nfs
