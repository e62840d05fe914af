// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The open file behind a descriptor of the current thread.
#pragma once

#include "kprobes/bpf/kernel.h"
#include "kprobes/bpf/shared.h"

// BTF ids of struct file and struct kiocb for cast_to(); 0: this kernel has no bpf_rdonly_cast. A slot of the
// descriptor table, a pointer to struct file, is read as if it were the member ki_filp of a struct kiocb.
const volatile __u32 type_of_file, type_of_slot;

// Returns `pointer` with a type that the verifier knows. Fields are then read by loads and not through the kernel's
// helper, which costs some 25 ns a call. The pointer may be invalid.
static void *(*const cast_to)(const void *pointer, __u32 type) = (void *)MLRUN_CAST_TO_COME;

static __always_inline struct file *file_in(struct file **slot, bool is_typed) {
  struct file *file = NULL;
  void *around = (void *)slot - bpf_core_field_offset(struct kiocb, ki_filp);
  if (is_typed) return ((struct kiocb *)cast_to(around, type_of_slot))->ki_filp;
  return bpf_probe_read_kernel(&file, sizeof file, slot) == 0 ? file : NULL;
}

// The open file of descriptor `fd`; NULL: there is none. Another thread may close it at any time, and its number may
// then belong to another file. Requires: `is_typed` is a constant, and true only where type_of_slot is not 0.
static __always_inline struct file *file_behind(__u32 fd, bool is_typed) {
  struct task_struct *task = bpf_get_current_task_btf();
  struct fdtable *table = task->files->fdt;
  return fd < table->max_fds ? file_in(table->fd + fd, is_typed) : NULL;
}

static __always_inline struct file *file_at(__u32 fd) { return file_behind(fd, false); }
