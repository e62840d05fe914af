#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: mlrun observes running processes by pid, by cgroup and system-wide, while other processes do I/O too.
# Usage: attach_guest.sh BUILD PYTHON
set -euo pipefail
build=$1
python=$2
# shellcheck source=tests/vm/kernel_side/traced.sh
source "$(dirname "${BASH_SOURCE[0]}")/traced.sh"

# writer FILE: prints its number, waits for the start signal, writes 1 MiB and syncs it.
writer() {
  # shellcheck disable=SC2016
  setsid sh -c 'echo $$ >"$0.pid"; until [ -e "$0.go" ]; do sleep 0.1; done
    dd if=/dev/zero of="$1" bs=64k count=16 conv=fsync; touch "$0.done"' "/tmp/$1" "/mnt/disk/$1" &
  until [[ -s /tmp/$1.pid ]]; do sleep 0.1; done
}
release() { for file in "$@"; do touch "/tmp/$file.go"; done; }
wait_for() { for file in "$@"; do until [[ -e /tmp/$file.done ]]; do sleep 0.1; done; done; }

dd if=/dev/zero of=/mnt/disk/old bs=64k count=16 conv=fsync
sync
echo 3 >/proc/sys/vm/drop_caches

# Checks that this kernel loads the BPF programs for library probes; nothing here triggers them.
"$build/bin/mlrun" --kprobes=require,cufile,torch --defer-merge --quiet -o "$traces/libraries" -- true
"$build/bin/mlrun" --kprobes=require,cuda --stacks --defer-merge --quiet -o "$traces/cuda" --pid $$ --duration 1

# By process: one that reads a file that it has open already, by itself and by a child, and ends as another program.
# shellcheck disable=SC2016
setsid sh -c 'exec 3</mnt/disk/old; echo $$ >/tmp/loader.pid; until [ -e /tmp/loader.go ]; do sleep 0.1; done
  for i in 1 2; do dd if=/dev/zero of=/mnt/disk/own$i bs=64k count=16 conv=fsync; done
  exec dd bs=64k of=/dev/null <&3' &
until [[ -s /tmp/loader.pid ]]; do sleep 0.1; done
writer stranger
observe pid block,wait,vfs --pid "$(</tmp/loader.pid)"
release loader stranger
observed
wait_for stranger

# Paths: a process in its own namespaces, which opens files too briefly for /proc to show them.
paths=/mnt/disk/paths
long=$(printf 'x%.0s' {1..255})
mkdir -p $paths/{many,links,folder/below,inside,bound,lower,lowest,over,later,"$long"}
for i in {0..299}; do echo "file $i" >$paths/many/f"$i"; done
for file in links/one before folder/below/file gone inside/file lower/file "$long/é"$'\n'; do echo file >"$paths/$file"; done
ln $paths/links/one $paths/links/two
sync
echo 3 >/proc/sys/vm/drop_caches
# shellcheck disable=SC2016
unshare -m -p -f sh -ec 'mount --bind "$0/many" "$0/bound"; mount -t overlay none -o "lowerdir=$0/lower:$0/lowest" "$0/over"
  exec "$@"' $paths "$python" "$(dirname "${BASH_SOURCE[0]}")/short_opens.py" $paths /tmp/short.go "/tmp/short.expected" &
unshared=$!
until [[ -e /tmp/short.go.waits ]]; do
  kill -0 $unshared
  sleep 0.1
done
opener=$(pgrep -P $unshared)
stat -Lc '%i' "/proc/$opener/ns/pid" >"$out/pid_namespace"
later=none # a file system that no process had mounted
if command -v mkfs.xfs >/dev/null; then
  later=xfs
  modprobe null_blk nr_devices=1 gb=1 memory_backed=1
  mkfs.xfs -q /dev/nullb0 </dev/null
  mount -t tracefs none /sys/kernel/tracing 2>/dev/null || [[ -e /sys/kernel/tracing/enabled_functions ]]
fi
observe paths block,vfs --pid "$opener"
if [[ $later == xfs ]]; then
  nsenter -t "$opener" -m mount -t xfs /dev/nullb0 $paths/later
  until grep -q xfs_file_remap_range /sys/kernel/tracing/enabled_functions; do sleep 0.1; done # the last of its functions
fi
release short
observed
wait $unshared
cp /tmp/short.expected "$out/paths.expected"
if [[ $later == xfs ]]; then touch "$out/xfs"; fi

# By cgroup: one task that is in it, one that comes later into a group below, and one beside it.
mkdir -p /run/cgroups
mount -t cgroup2 none /run/cgroups
echo '+io +memory' >/run/cgroups/cgroup.subtree_control # else all write-back is the root's
mkdir -p /run/cgroups/inside/below /run/cgroups/outside
for file in first later outside; do writer $file; done
cat /tmp/first.pid >/run/cgroups/inside/cgroup.procs
cat /tmp/outside.pid >/run/cgroups/outside/cgroup.procs
stat -c '%i' /run/cgroups/inside >"$out/cgroup.number"
alone
observe cgroup block,wait,vfs --cgroup /run/cgroups/inside
cat /tmp/later.pid >/run/cgroups/inside/below/cgroup.procs
release first later outside
wait_for first later outside
observed TERM

# Everything, beside what the kernel counts: written and read by two users, through the page cache and past it.
sync
cat /sys/block/vda/stat >"$out/system.before"
alone
observe system block,wait,vfs --system
cat /sys/block/vda/stat >"$out/system.inner_before"
chmod 777 /mnt/disk
# shellcheck disable=SC2016
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
  'echo $$ >/tmp/other.pid; exec dd if=/dev/zero of=/mnt/disk/other bs=64k count=16'
dd if=/dev/zero of=/mnt/disk/ours bs=64k count=32 conv=fsync
sync
dd if=/mnt/disk/ours of=/dev/null bs=64k iflag=direct
dd if=/dev/vda of=/dev/null bs=256k count=4 iflag=direct
sync
cat /sys/block/vda/stat >"$out/system.inner_after"
observed TERM
cat /sys/block/vda/stat >"$out/system.after"

stat -c '%n %i %d' /mnt/disk/{old,own1,own2,stranger,first,later,outside,other,ours} >"$out/inodes"
echo "$opener" >/tmp/opener.pid
for file in loader opener first later outside other; do echo "$file $(<"/tmp/$file.pid")"; done >"$out/pids"

# What cannot be attached to: one line, and no trace.
refused() {
  local status=0
  "$build/bin/mlrun" --kprobes -o /run/none "$@" >"$out/refused.said" 2>&1 || status=$?
  if ((status != 125)) || [[ -e /run/none || $(wc -l <"$out/refused.said") != 1 ]]; then
    echo "not refused: $* ($status)"
    cat "$out/refused.said"
    exit 1
  fi
  cat "$out/refused.said" >>"$out/refusals"
}
refused --cgroup /run/cgroups/none
refused --cgroup /mnt/disk
refused --pid "$(</tmp/loader.pid)"
mkdir -p /run/cgroup1
if mount -t cgroup -o none,name=old none /run/cgroup1; then refused --cgroup /run/cgroup1; fi
cut -d ' ' -f 1 /proc/uptime >"$out/done"
