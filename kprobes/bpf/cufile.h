// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Calls of libcufile: what was asked for and what came of it; of a handle that is made, which file it is for.
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
  __type(key, __u32);
  __type(value, __u64);
} cufile_hits SEC(".maps");

__u32 cufile_epoch;

SEC("uprobe")
int on_cufile_call(struct pt_regs *registers) {
  if (!is_over) begin_library_call(registers, &cufile_begun, &cufile_hits, cufile_epoch, MLRUN_KERNEL_CUFILE, 0);
  return 0;
}

// A CUfileDescr_t: its type, then a union that begins 8 bytes behind it.
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

static __always_inline void tell_cufile_call(const struct library_call *call, __s64 result, __u64 end_ns) {
  __u32 reads = call->cookie >> MLRUN_LIBRARY_READS_SHIFT, unread = 0;
  struct mlrun_cufile_call *record = RESERVE(mlrun_cufile_call, MLRUN_KERNEL_CUFILE);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_CUFILE, sizeof *record, end_ns, bpf_get_current_pid_tgid());
  record->begin_ns = call->begin_ns;
  record->function = function_of(call->cookie);
  record->fd = -1;
  // Others return a CUfileError_t: cuFile's own error, and behind it that of the driver.
  record->result = reads & MLRUN_CUFILE_RETURNS_BYTES ? result : (__s32)result;
  for (int i = 0; i < MLRUN_LIBRARY_ARGUMENTS; i++) record->arguments[i] = call->arguments[i];
  record->read[0] = record->read[1] = 0;
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
  if (call && !is_over) tell_cufile_call(call, (__s64)registers->ax, end_ns);
  return 0;
}
