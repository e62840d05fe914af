// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Calls of libcufile: arguments and result. A call that registers a handle also has the file; a call that submits a
// batch, its operations; a call that polls a batch, the results that it returned.
#pragma once

#include "kprobes/bpf/cuda.h"
#include "kprobes/bpf/descriptor.h"
#include "kprobes/bpf/inode_device.h"

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct library_call);
} cufile_begun SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, MLRUN_LIBRARY_FUNCTIONS_MAX);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, __u64);
} cufile_hits SEC(".maps");

__u32 cufile_epoch;

SEC("uprobe")
int on_cufile_call(struct pt_regs *registers) {
  if (!is_over) begin_library_call(registers, &cufile_begun, &cufile_hits, cufile_epoch, MLRUN_KERNEL_CUFILE, 0);
  return 0;
}

// A CUfileDescr_t: its type, then a union at offset 8.
static __always_inline void look_at_descriptor(struct mlrun_cufile_call *record, __u64 address) {
  enum { kOpaqueFd = 1, kUnion = 8 };
  __u32 type = 0, fd = 0;
  if (bpf_probe_read_user(&type, sizeof type, (void *)address) != 0 || type != kOpaqueFd) return;
  if (bpf_probe_read_user(&fd, sizeof fd, (void *)(address + kUnion)) != 0) return;
  record->fd = fd;
  struct file *file = file_at(fd);
  if (!file) return;
  record->inode = BPF_CORE_READ(file, f_inode, i_ino);
  record->device = device_of_inode(BPF_CORE_READ(file, f_inode));
}

// Emits the first bytes of a batch's array in up to MLRUN_CUFILE_PARTS records. If the ring is full it stops without
// counting a loss: the reader knows the number of entries from the call, and counts the missing ones.
static __always_inline void emit_entries(__u64 address, __u64 bytes, __u64 end_ns) {
  for (__u64 i = 0; i < MLRUN_CUFILE_PARTS; i++) {  // 64 bits, as in caller_stack.h
    __u64 offset = i * MLRUN_CUFILE_PART_BYTES;
    if (offset >= bytes) return;
    struct mlrun_cufile_part *part = reserve(sizeof *part);
    if (!part) return;
    __u64 last = bytes - offset - 1;
    if (last >= MLRUN_CUFILE_PART_BYTES) last = MLRUN_CUFILE_PART_BYTES - 1;
    // A mask that the compiler cannot drop: the verifier of Linux 6.1 learns too little from comparisons.
    __asm__ volatile("" : "+r"(last));
    __u64 here = (last & (MLRUN_CUFILE_PART_BYTES - 1)) + 1;
    if (bpf_probe_read_user(part->entries, here, (void *)(address + offset)) != 0) {
      bpf_ringbuf_discard(part, BPF_RB_NO_WAKEUP);
      return;
    }
    part->head = make_head(MLRUN_KERNEL_CUFILE_PART, sizeof *part, end_ns, current_pid_tid());
    part->offset = offset;
    part->bytes = here;
    submit(part);
  }
}

// False: the call polled in vain for less than kPollNs (1 ms), and gets no record.
static __always_inline bool emit_batch(const struct library_call *call, __u32 reads, __u64 end_ns, __u64 *count) {
  enum { kPollNs = 1000000 };
  if (reads & MLRUN_CUFILE_LISTS_OPERATIONS) {
    __u64 bytes = (__u64)(__u32)call->arguments[1] * MLRUN_CUFILE_OPERATION_BYTES;
    emit_entries(call->arguments[2], bytes, end_ns);
  }
  if (!(reads & MLRUN_CUFILE_LISTS_RESULTS)) return true;
  __u32 results = 0;
  if (bpf_probe_read_user(&results, sizeof results, (void *)call->arguments[2]) != 0) return true;
  *count = results;
  emit_entries(call->arguments[3], *count * MLRUN_CUFILE_RESULT_BYTES, end_ns);
  return results || end_ns - call->begin_ns >= kPollNs;
}

static __always_inline void emit_cufile_call(const struct library_call *call, __s64 result, __u64 end_ns) {
  __u32 reads = call->cookie >> MLRUN_LIBRARY_READS_SHIFT, unread = 0;
  __u64 count = 0;
  if (!(__s32)result && !emit_batch(call, reads, end_ns, &count)) return;
  struct mlrun_cufile_call *record = RESERVE(mlrun_cufile_call, MLRUN_KERNEL_CUFILE);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_CUFILE, sizeof *record, end_ns, current_pid_tid());
  record->begin_ns = call->begin_ns;
  record->function = function_of(call->cookie);
  record->fd = -1;
  // Other functions return a CUfileError_t: cuFile's own error, then the driver's.
  record->result = reads & MLRUN_CUFILE_RETURNS_BYTES ? result : (__s32)result;
  for (int i = 0; i < MLRUN_LIBRARY_ARGUMENTS; i++) record->arguments[i] = call->arguments[i];
  record->read[0] = count;
  record->read[1] = 0;
  record->inode = 0;
  record->device = 0;
  if (reads & MLRUN_CUFILE_READS_HANDLE && !record->result) {
    record->read[0] = read_user(call->arguments[0], &unread, MLRUN_CUFILE_READS_HANDLE);
    look_at_descriptor(record, call->arguments[1]);
  }
  if (reads & MLRUN_CUFILE_READS_RANGE) {
    record->read[0] = read_user(call->arguments[2], &unread, MLRUN_CUFILE_READS_RANGE);
    record->read[1] = read_user(call->arguments[3], &unread, MLRUN_CUFILE_READS_RANGE);
  }
  record->unread = unread;
  submit(record);
}

SEC("uretprobe")
int on_cufile_return(struct pt_regs *registers) {
  __u64 end_ns = now_ns();
  const struct library_call *call = end_library_call(registers, &cufile_begun);
  if (call && !is_over) emit_cufile_call(call, (__s64)registers->ax, end_ns);
  return 0;
}
