#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rig itself.  Usage: rig_test.sh CASE
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
said=$(mktemp)
out=$(mktemp -d)
trap 'rm -rf "$said" "$out"' EXIT

# ends STATUS VMRUN-ARGUMENT...: the guest must end so; what it said goes to $said.
ends() {
  local wanted=$1 status=0
  shift
  "$here/vmrun" "$@" >"$said" 2>&1 || status=$?
  if ((status == 77)); then
    tail -n 1 "$said"
    exit 77
  fi
  if ((status == wanted)); then return 0; fi
  printf 'FAILED: vmrun %s ended with %s instead of %s\n' "$*" "$status" "$wanted"
  cat "$said"
  exit 1
}

says() {
  if grep -qF -- "$1" "$said"; then return 0; fi
  printf 'FAILED: not said: %s\n' "$1"
  cat "$said"
  exit 1
}

case $1 in
  status)
    ends 3 --disk 0 -- 'echo to the standard output; echo to the other >&2; exit 3'
    says 'to the standard output'
    says 'to the other'
    ends 139 --disk 0 -- bash -c 'kill -SEGV $$'
    ;;
  panic)
    ends 125 --disk 0 -- 'echo c > /proc/sysrq-trigger'
    says sysrq_handle_crash
    says 'the kernel panicked'
    ;;
  hang)
    ends 124 --disk 0 --timeout 25 -- sleep 1000
    says 'no end within 25 s'
    says 'NMI backtrace for cpu 0'
    ;;
  patched_code) # QEMU 7.2 did not survive ten seconds of it
    # shellcheck disable=SC2016
    ends 0 --disk 0 -- '
      cd /sys/kernel/tracing/events
      for _ in 1 2; do while :; do /bin/busybox true | /bin/busybox cat; done >/dev/null 2>&1 </dev/null & done
      for i in $(seq 150); do
        for on in 1 0; do for event in sched/sched_waking sched/sched_switch; do echo $on >$event/enable; done; done
      done; echo patched $((4 * i)) times'
    says 'patched 600 times'
    ;;
  options)
    cd "$here"
    ends 0 --kernel newest --numa --nvdimm 256 --disk 64 --append lockdown=confidentiality --out "$out" -- '
      uname -r; id -u; pwd; ls /sys/devices/system/node; test -b /dev/pmem0 && echo has pmem
      cat /sys/kernel/security/lockdown; findmnt -no FSTYPE,SOURCE /mnt/disk; modprobe null_blk && echo has modules
      echo written >/run/out/file; ! echo x 2>/dev/null >/run/out/no/such/folder; date > a-file-in-the-checkout'
    says "$(<"$("$here/kernels.sh" newest)/release")"
    says "$here"
    says node1
    says 'has pmem'
    says '[confidentiality]'
    says 'ext4   /dev/vda'
    says 'has modules'
    [[ $(<"$out/file") == written && ! -e $here/a-file-in-the-checkout ]]
    ;;
  *) exit 2 ;;
esac
echo "the rig does what it says: $1"
