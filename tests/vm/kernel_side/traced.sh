# SPDX-License-Identifier: Apache-2.0
# For guests: commands under mlrun, each trace to /run/out/NAME, merged later outside.
# shellcheck shell=bash disable=SC2154
# Traces grow in memory: they need mmap, which the folder from outside does not have, and are no block I/O there.
out=/run/out
traces=/run/traces
mkdir -p $traces

# What is recorded; file operations are asked for where they are looked at, since their probes take seconds here.
streams=block,wait
options=() # more of them

# While another run lets go of a function, the kernel skips our program at the end of what is in that function.
alone() {
  while grep -qsx mlrun-probes /proc/[0-9]*/comm; do sleep 0.1; done
}

# traced NAME DEVICE COMMAND...: with the device's own counters around it.
traced() {
  local name=$1 device=$2
  shift 2
  if [[ $streams == *vfs* ]]; then alone; fi
  sync
  cat "/sys/block/$device/stat" >"$out/$name.before"
  "$build/bin/mlrun" --preload --kprobes="require,$streams" --defer-merge --quiet "${options[@]}" -o "$traces/$name" -- "$@" >"$out/$name.said" 2>&1 || {
    echo "$name ended with $?"
    cat "$out/$name.said"
    if grep -q 'does not answer' "$out/$name.said"; then exit 74; fi # within a minute: as traces_test.sh has it
    exit 1
  }
  cat "/sys/block/$device/stat" >"$out/$name.after"
  cp -r "$traces/$name" "$out/$name"
}

# slow_device DEPTH [OPTION...]: /dev/nullb0 takes 20 ms for each request, DEPTH of them at once.
slow_device() {
  local depth=$1
  shift
  if [[ -e /dev/nullb0 ]]; then rmmod null_blk; fi
  modprobe null_blk nr_devices=1 irqmode=2 completion_nsec=20000000 queue_mode=2 hw_queue_depth="$depth" submit_queues=1 \
    gb=1 memory_backed=1 "$@"
  echo none >/sys/block/nullb0/queue/scheduler
}
