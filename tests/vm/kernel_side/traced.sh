# SPDX-License-Identifier: Apache-2.0
# For guests: commands under mlrun, each trace to /run/out/NAME, merged later outside.
# shellcheck shell=bash disable=SC2154
# Traces grow in memory: they need mmap, which the folder from outside does not have, and are no block I/O there.
out=/run/out
traces=/run/traces
mkdir -p $traces

# Recorded streams; only suites that check file operations add vfs, since its probes take seconds to attach here.
streams=block,wait
options=() # more of them
wish=    # prefix of the kprobes list; empty means require

# While another run detaches from a function, the kernel skips our exit program for calls that are in that function.
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
  "$build/bin/mlrun" --preload --kprobes="${wish:-require},$streams" --defer-merge --quiet "${options[@]}" -o "$traces/$name" -- "$@" >"$out/$name.said" 2>&1 || {
    echo "$name ended with $?"
    cat "$out/$name.said"
    if grep -q 'does not answer' "$out/$name.said"; then exit 74; fi # within a minute: as traces_test.sh has it
    exit 1
  }
  cat "/sys/block/$device/stat" >"$out/$name.after"
  cp -r "$traces/$name" "$out/$name"
}

# observe NAME STREAMS OPTION...: returns when later commands are observed.
observe() {
  name=$1
  "$build/bin/mlrun" --kprobes="$2" --defer-merge -o "$traces/$name" "${@:3}" >"$out/$name.said" 2>&1 &
  observer=$!
  until grep -q observing "$out/$name.said"; do
    kill -0 $observer 2>/dev/null || fail_with_text
    sleep 0.1
  done
}

# observed [SIGNAL]: until it has ended, by itself or by that signal (a shell's background jobs do not get SIGINT).
observed() {
  if (($#)); then kill "-$1" $observer; fi
  wait $observer || fail_with_text
  cp -r "$traces/$name" "$out/$name"
}

fail_with_text() {
  echo "$name did not go well"
  cat "$out/$name.said"
  if grep -q 'does not answer' "$out/$name.said"; then exit 74; fi # a busy machine: see traces_test.sh
  exit 1
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
