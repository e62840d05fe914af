# SPDX-License-Identifier: Apache-2.0
# Sourced by vmrun: what the guest does after init, and how QEMU is called. Uses vmrun's variables.
# shellcheck shell=bash disable=SC2154

# Printed: the guest's second script. No lazy initialisation of the scratch disk: it would be I/O of its own.
write_start_script() {
  cat <<START
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8
mount --bind $root/lib/modules /lib/modules 2>/dev/null || { mkdir -p /lib/modules; mount --bind $root/lib/modules /lib/modules; }
START
  if [[ -n $out ]]; then
    cat <<START
mkdir -p /run/out
mount -t 9p -o rw,cache=none,trans=virtio,version=9p2000.L,msize=512000,access=any out /run/out
START
  fi
  if ((disk)); then
    cat <<'START'
mkdir -p /mnt/disk
# Nothing is read in the background: newer kernels fetch the bitmaps at some time in the first seconds.
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard /dev/vda </dev/null && {
  mount -t ext4 -o no_prefetch_block_bitmaps /dev/vda /mnt/disk 2>/dev/null || mount -t ext4 /dev/vda /mnt/disk; } ||
  echo "vm: there is no scratch disk"
START
  fi
  printf 'cd %q\n' "$PWD"
  cat <<'START'
while sleep 5; do echo >/run/job/alive; done >/dev/null 2>&1 </dev/null &
sh -c "$(cat /run/job/command)" >/run/job/stdout 2>/run/job/stderr </dev/null
echo $? >/run/job/status
sync
/bin/busybox reboot -f
START
}

# kvm where it really runs a guest, else tcg: /dev/kvm may be there and not work. A kernel without a root panics at
# once, which ends QEMU. The answer holds until this machine boots again.
accelerator() {
  local answer
  answer=$cache/accelerator-$(</proc/sys/kernel/random/boot_id)
  if [[ -n ${MLRUN_VM_ACCELERATOR:-} ]]; then
    printf '%s' "$MLRUN_VM_ACCELERATOR"
    return
  fi
  if [[ ! -s $answer ]]; then
    local works=tcg
    if [[ -w /dev/kvm ]] && command -v qemu-system-x86_64 >/dev/null && timeout -k 1 20 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
      -machine q35 -accel kvm -cpu host -m 512 -kernel "$root/boot/vmlinux" -append 'console=ttyS0 panic=-1' \
      -serial "file:$job/kvm" >/dev/null 2>&1 </dev/null && grep -q 'Kernel panic' "$job/kvm"; then
      works=kvm
    fi
    printf '%s' "$works" >"$answer.new.$$"
    mv "$answer.new.$$" "$answer"
  fi
  cat "$answer"
}

# Fills `arguments`. no_timer_check: on a busy host the kernel's test of its timer fails, and it panics.
qemu_arguments() {
  local accelerate=(-accel tcg,thread=multi -cpu max) machine=q35 room=$memory
  if [[ $(accelerator) == kvm ]]; then accelerate=(-accel kvm -cpu host); fi
  # Its clocks go by its own instructions, 2 ns each: what is measured does not depend on this machine's load.
  if [[ $(accelerator) == icount ]]; then accelerate=(-accel tcg,thread=single -icount shift=1,sleep=off -cpu max); fi
  arguments=(-nodefaults -no-user-config -display none -no-reboot "${accelerate[@]}" -smp "$cpus"
    -chardev "pipe,id=monitor,path=$job/monitor" -mon chardev=monitor
    -kernel "$root/boot/vmlinux" -initrd "$initramfs" -serial "file:$job/console"
    -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap
    -device virtio-9p-pci,fsdev=root,mount_tag=hostroot
    -fsdev "local,id=job,path=$job,security_model=none,multidevs=remap" -device virtio-9p-pci,fsdev=job,mount_tag=job)
  if [[ -n $out ]]; then
    arguments+=(-fsdev "local,id=out,path=$out,security_model=none,multidevs=remap"
      -device virtio-9p-pci,fsdev=out,mount_tag=out)
  fi
  if ((disk)); then
    truncate -s "${disk}M" "$job/disk"
    arguments+=(-drive "file=$job/disk,if=none,id=disk,format=raw,cache=unsafe,aio=threads"
      -device virtio-blk-pci,drive=disk)
  fi
  if ((nvme)); then
    truncate -s "${nvme}M" "$job/nvme"
    arguments+=(-drive "file=$job/nvme,if=none,id=nvme,format=raw,cache=unsafe,aio=threads" -device nvme-subsys,id=subsystem
      -device nvme,id=path0,serial=mlrun,subsys=subsystem -device nvme,id=path1,serial=mlrun,subsys=subsystem
      -device nvme-ns,bus=path0,drive=nvme,nsid=1,shared=on)
  fi
  if ((nvdimm)); then
    machine=q35,nvdimm=on room="$memory,slots=4,maxmem=$((memory + nvdimm + 1024))M"
    truncate -s "${nvdimm}M" "$job/nvdimm"
    local node=''
    if ((numa)); then node=,node=2; fi
    arguments+=(-object "memory-backend-file,id=nv,share=on,mem-path=$job/nvdimm,size=${nvdimm}M,align=128M"
      -device "nvdimm,id=nvdimm0,memdev=nv,label-size=128K$node")
  fi
  if ((numa)); then numa_arguments; fi
  arguments+=(-machine "$machine" -m "$room" -append "console=ttyS0 quiet loglevel=3 panic=-1 oops=panic unknown_nmi_panic panic_print=0x40
    mitigations=off no5lvl no_timer_check random.trust_cpu=on tsc=reliable net.ifnames=0 $append")
}

# Latencies in ns, bandwidths in MB/s: of a CPU's own node, of the other one, of the node without CPUs.
hmat_arguments() {
  local initiator target latency bandwidth
  arguments+=(-object "memory-backend-ram,id=m2,size=$((memory / 4))M" -numa node,nodeid=2,memdev=m2,initiator=0
    -numa dist,src=0,dst=2,val=17 -numa dist,src=1,dst=2,val=28)
  for initiator in 0 1; do
    for target in 0 1 2; do
      latency=20 bandwidth=100000
      if ((target == initiator)); then latency=10 bandwidth=150000; fi
      if ((target == 2)); then latency=40 bandwidth=400000; fi
      arguments+=(-numa "hmat-lb,initiator=$initiator,target=$target,hierarchy=memory,data-type=access-latency,latency=$latency"
        -numa "hmat-lb,initiator=$initiator,target=$target,hierarchy=memory,data-type=access-bandwidth,bandwidth=${bandwidth}M")
    done
  done
}

numa_arguments() {
  local half=$((memory / 2)) first=$((cpus / 2 - 1))
  if ((hmat)); then half=$((memory * 3 / 8)) machine=$machine,hmat=on; fi
  arguments+=(-object "memory-backend-ram,id=m0,size=${half}M" -object "memory-backend-ram,id=m1,size=${half}M"
    -numa "node,nodeid=0,cpus=0-$first,memdev=m0" -numa "node,nodeid=1,cpus=$((first + 1))-$((cpus - 1)),memdev=m1"
    -numa dist,src=0,dst=1,val=21)
  if ((hmat)); then hmat_arguments; fi
  if ((nvdimm)); then
    arguments+=(-numa node,nodeid=2 -numa dist,src=0,dst=2,val=17 -numa dist,src=1,dst=2,val=28)
  fi
}
