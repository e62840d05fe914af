#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: the same loop bare, with empty pairs of probes, and followed by mlrun, in turns; followed where no file system
# is mounted that reads by the general function, and where 9p is, which does.
# Usage: guest.sh BIN WORK ROUNDS BATCHES CALLS
set -euo pipefail
bin=$1 work=$2 rounds=$3 batches=$4 calls=$5
out=/run/out
cp "$work/pread_loop" /mnt/disk/ # not from 9p
head -c 4096 /dev/zero >/mnt/disk/page
sync
looped() { /mnt/disk/pread_loop /mnt/disk/page "$batches" "$calls"; }

bare() { looped >"$1"; }

# Usage: with_probes OBJECT OUT
with_probes() {
  local said to
  coproc PAIR { exec "$work/attach" "$work/$1.bpf.o"; }
  local pid=$PAIR_PID
  read -r said <&"${PAIR[0]}"
  [[ $said == attached ]]
  looped >"$2"
  to=${PAIR[1]}
  exec {to}>&-
  wait "$pid"
}

pair() { with_probes empty_pair "$1"; }
pairs() { with_probes empty_pairs "$1"; }

# All operations of the loop must be there: what is lost costs less.
followed_general() {
  "$bin/mlrun" --preload=off --kprobes=require,vfs --defer-merge --quiet -o "/run/trace" \
    /mnt/disk/pread_loop /mnt/disk/page "$batches" "$calls" >"$1" 2>/run/said
  local record_bytes=96 # struct mlrun_file_op
  (($(stat -c %s /run/trace/kernel.bin) >= record_bytes * (batches + 1) * calls)) || { echo "records are missing" && exit 1; }
  rm -r /run/trace
}

followed() {
  export -f followed_general
  export bin batches calls
  unshare --mount bash -euc 'umount --lazy /run/job /run/out && followed_general /run/looped'
  cp /run/looped "$1"
}

# The probes of the previous run are detached one after the other, long after that run: the next run waits for that.
settled() { while pgrep -x mlrun-probes >/dev/null; do sleep 0.2; done; }

ways=(bare pair pairs followed followed_general)
for ((round = 0; round < rounds; round++)); do
  for ((turn = 0; turn < ${#ways[@]}; turn++)); do
    way=${ways[(round + turn) % ${#ways[@]}]}
    settled
    "$way" "$out/$way.$round"
  done
done
