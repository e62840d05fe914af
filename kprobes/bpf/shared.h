// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Shared by the programs and their loader: counters and totals in maps. Sizes are asserted, since two compilers lay
// them out.
#pragma once

#include "runner/events/kernel_record.h"

enum { MLRUN_PROBE_REASONS = 8, MLRUN_PROBE_LOSSES = MLRUN_KERNEL_KINDS * MLRUN_PROBE_REASONS };

// Which tasks are traced. Processes with a flag of their own are added to each.
enum mlrun_scope { MLRUN_SCOPE_FLAGGED = 0, MLRUN_SCOPE_CGROUP = 1, MLRUN_SCOPE_SYSTEM = 2 };

// Loss counters. Index: processor * MLRUN_PROBE_LOSSES + kind * MLRUN_PROBE_REASONS + reason. The time is written
// before the count.
struct mlrun_probe_loss {
  __u64 count, last_ns;
};

// A function probe's cookie, or the value written into its program: op | arguments << 8. `arguments` says where they
// identify the file.
enum mlrun_arguments {
  MLRUN_ARGUMENTS_NONE,
  MLRUN_ARGUMENTS_ITERATOR,      // (struct kiocb *, struct iov_iter *)
  MLRUN_ARGUMENTS_SYNC,          // (struct file *, loff_t begin, loff_t end, int data_only)
  MLRUN_ARGUMENTS_FILE,          // (struct file *)
  MLRUN_ARGUMENTS_FILE_RESULT,   // returns a struct file *
  MLRUN_ARGUMENTS_DENTRY,        // (idmap, struct dentry *, loff_t length)
  MLRUN_ARGUMENTS_SPLICE_READ,   // (struct file *, loff_t *offset, pipe, size_t bytes)
  MLRUN_ARGUMENTS_SPLICE_WRITE,  // (pipe, struct file *, loff_t *offset, size_t bytes)
  MLRUN_ARGUMENTS_FAULT,         // (struct vm_fault *)
  MLRUN_ARGUMENTS_CLONE,       // (struct file *from, loff_t from_offset, struct file *to, loff_t offset, loff_t bytes)
  MLRUN_ARGUMENTS_COMPLETION,  // (struct kiocb *, long result): the end of an operation
  // Like ITERATOR, for a function that file systems use directly or call from their own.
  MLRUN_ARGUMENTS_GENERAL_ITERATOR,
  MLRUN_ARGUMENTS_NAME,   // (int folder, struct filename *)
  MLRUN_ARGUMENTS_NAMES,  // (int folder, struct filename *, int folder of the new one, struct filename *)
};
enum { MLRUN_ARGUMENTS_SHIFT = 8 };
// Placeholders that the loader replaces in a function's programs: the cookie, its operation, 1 for a general iterator,
// and the index of the return value in the fexit context, 0 if there is none.
enum {
  MLRUN_COOKIE_TO_COME = 0x7ec00c1e,
  MLRUN_OP_TO_COME = 0x7ec00c2e,
  MLRUN_GENERAL_TO_COME = 0x7ec00c3e,
  MLRUN_RETURN_TO_COME = 0x7ec00c4e,
};
enum { MLRUN_RETURN_AT_MOST = 6 };

// A call that the loader turns into bpf_rdonly_cast (6.2), in programs for kernels that have it.
enum { MLRUN_CAST_TO_COME = 0x7ec00ca5 };

// How is_followed classifies a process.
enum mlrun_following {
  MLRUN_FOLLOWING = 1,
  MLRUN_FOLLOWING_LAUNCHER = 2,  // mlrun's own child, before it becomes the command
};

// A short record of a file operation, a third of a whole one: for the same thread, file and processor as the thread's
// last whole record of an outermost operation. The loader expands it (whole_records.h), so files have only whole ones.
// A thread whose whole record was lost writes the next one whole.
struct mlrun_short_file_op {
  __u8 kind;       // MLRUN_SHORT_FILE_OP, where other records have the low byte of their kind
  __u8 op, flags;  // enum mlrun_file_op_kind, mlrun_file_op_flag
  __u8 step;       // from the number of the thread's previous outermost operation to this one's
  __u32 tid;
  __u64 time_ns;  // the end, where every record has it
  __u32 duration_ns;
  __s32 result;
  __u64 offset_and_rest;  // start offset | bytes requested and not moved << MLRUN_SHORT_OFFSET_BITS
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_short_file_op) == 32, "short record of a file operation");
enum { MLRUN_SHORT_FILE_OP = 255, MLRUN_SHORT_OFFSET_BITS = 48 };
#define MLRUN_SHORT_NO_OFFSET ((1ull << MLRUN_SHORT_OFFSET_BITS) - 1)
// How long after a whole record a thread's records may be short, so that the loader can forget threads.
#define MLRUN_SHORT_FOR_NS 1000000000ull
// An operation's number counts the thread's operations from this bit on; the bits below are the thread's number.
enum { MLRUN_OPERATION_STEP_SHIFT = 24 };

// System calls of a process; `number` has this bit for 32-bit programs.
enum { MLRUN_SYSCALL_KEY_32BIT = 1 << 30 };
struct mlrun_syscall_key {
  __u32 pid, number;
  __u64 start_ns;  // of the process, since boot: its number may be reused
};
struct mlrun_syscall_counts {
  __u64 calls, errors, total_ns, last_ns;
  __u64 buckets[MLRUN_SYSCALL_BUCKETS];
  char comm[MLRUN_KERNEL_COMM];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_syscall_counts) == 368, "counts of a system call");

// Purposes of function probes: operations on files, and the end of asynchronous ones.
enum { MLRUN_FILE_COMPLETION = MLRUN_FILE_OPS, MLRUN_FILE_PURPOSES };

// A library probe's cookie: the function's number | what to read << 16 (enum mlrun_cuda_reads, mlrun_cufile_reads).
enum { MLRUN_LIBRARY_READS_SHIFT = 16, MLRUN_LIBRARY_FUNCTIONS_MAX = 64 };

// Where a static probe (SDT, USDT) has an argument at its instruction, according to the file's note.
enum mlrun_argument_place {
  MLRUN_ARGUMENT_CONSTANT,  // `value` itself
  MLRUN_ARGUMENT_REGISTER,
  MLRUN_ARGUMENT_MEMORY,  // at `value` from the address in the register
};
struct mlrun_probe_argument {
  __s64 value;
  __u16 place, in_registers;  // in_registers: offset of the register in struct pt_regs
  __u8 bytes, is_signed;
  __u16 spare;
};
enum { MLRUN_PROBE_ARGUMENTS_MAX = 4, MLRUN_PROBE_LAYOUTS_MAX = 1024 };
// The cookie of such a probe is the index of its layout.
struct mlrun_probe_layout {
  __u32 probe, count;
  struct mlrun_probe_argument arguments[MLRUN_PROBE_ARGUMENTS_MAX];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_probe_layout) == 72, "layout of a static probe");

// Completed requests of a device and kind, of all processes. `name`: the disk's name in the kernel, the only key to
// disks whose number no file lists (the paths of an NVMe disk that has several).
enum { MLRUN_DISK_NAME = 32 };
struct mlrun_device_key {
  __u32 device, op;
};
struct mlrun_device_total {
  __u64 requests, bytes, device_ns, errors;
  __u64 own_requests, own_bytes;  // those with a fragment of a traced process
  char name[MLRUN_DISK_NAME];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_device_total) == 80, "device totals");
