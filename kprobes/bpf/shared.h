// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// What the programs and their loader both see: counters and totals in maps. Sizes are asserted, since two compilers
// lay them out.
#pragma once

#include "runner/events/kernel_record.h"

enum { MLRUN_PROBE_REASONS = 8, MLRUN_PROBE_LOSSES = MLRUN_KERNEL_KINDS * MLRUN_PROBE_REASONS };

// Who is followed. Processes by a flag of their own come on top of each.
enum mlrun_scope { MLRUN_SCOPE_FLAGGED = 0, MLRUN_SCOPE_CGROUP = 1, MLRUN_SCOPE_SYSTEM = 2 };

// What was lost. Index: processor * MLRUN_PROBE_LOSSES + kind * MLRUN_PROBE_REASONS + reason. The time is written before the count.
struct mlrun_probe_loss {
  __u64 count, last_ns;
};

// What a probe of a function is given as its cookie, or has written in: the operation that the function is, and where its arguments say
// of which file it is, cookie = op | arguments << 8.
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
  MLRUN_ARGUMENTS_COMPLETION,  // (struct kiocb *, long result): no operation of its own, but the end of one
  // As the first one, of a function that file systems use as theirs or call from their own.
  MLRUN_ARGUMENTS_GENERAL_ITERATOR,
  MLRUN_ARGUMENTS_NAME,   // (int folder, struct filename *)
  MLRUN_ARGUMENTS_NAMES,  // (int folder, struct filename *, int folder of the new one, struct filename *)
};
enum { MLRUN_ARGUMENTS_SHIFT = 8 };
// In place of these the loader writes into a function's programs: the cookie, its operation, 1 for a general iterator, and which word
// of the context of the program at its return has what it returned, 0 where it returns nothing.
enum {
  MLRUN_COOKIE_TO_COME = 0x7ec00c1e,
  MLRUN_OP_TO_COME = 0x7ec00c2e,
  MLRUN_GENERAL_TO_COME = 0x7ec00c3e,
  MLRUN_RETURN_TO_COME = 0x7ec00c4e,
};
enum { MLRUN_RETURN_AT_MOST = 6 };

// A call that the loader makes one of the kernel's bpf_rdonly_cast (6.2), in programs for kernels that have it.
enum { MLRUN_CAST_TO_COME = 0x7ec00ca5 };

// What is_followed finds of a process.
enum mlrun_following {
  MLRUN_FOLLOWING = 1,
  MLRUN_FOLLOWING_LAUNCHER = 2,  // mlrun's own child, until it becomes the command
};

// A file operation on its way through the ring, a third of a whole record: of the same thread and file, and on the same processor,
// as the last whole record of an operation of that thread that lies in no other. The loader makes it a whole one again
// (whole_records.h), so a file has none of these. A thread that a whole record was lost of writes the next one whole.
struct mlrun_short_file_op {
  __u8 kind;       // MLRUN_SHORT_FILE_OP, where every other record has the low byte of its kind
  __u8 op, flags;  // enum mlrun_file_op_kind, mlrun_file_op_flag
  __u8 step;       // of the operation's number, from that of the last one of the thread that lay in no other
  __u32 tid;
  __u64 time_ns;  // when it was over, where every record has it
  __u32 duration_ns;
  __s32 result;
  __u64 offset_and_rest;  // where it began | what was asked for and not moved << MLRUN_SHORT_OFFSET_BITS
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_short_file_op) == 32, "short record of a file operation");
enum { MLRUN_SHORT_FILE_OP = 255, MLRUN_SHORT_OFFSET_BITS = 48 };
#define MLRUN_SHORT_NO_OFFSET ((1ull << MLRUN_SHORT_OFFSET_BITS) - 1)
// A thread's operations are told short for as long after a whole one, so that the loader need not know of every thread
// that there was.
#define MLRUN_SHORT_FOR_NS 1000000000ull
// Where a thread counts its operations in the number of one; the bits below are its own number.
enum { MLRUN_OPERATION_STEP_SHIFT = 24 };

// System calls of a process; `number` has this bit when it is one of 32-bit programs.
enum { MLRUN_SYSCALL_KEY_32BIT = 1 << 30 };
struct mlrun_syscall_key {
  __u32 pid, number;
  __u64 start_ns;  // of the process, since boot: a number may be used again
};
struct mlrun_syscall_counts {
  __u64 calls, errors, total_ns, last_ns;
  __u64 buckets[MLRUN_SYSCALL_BUCKETS];
  char comm[MLRUN_KERNEL_COMM];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_syscall_counts) == 368, "counts of a system call");

// What functions are probed for: operations on files, and the end of those that return before they are over.
enum { MLRUN_FILE_COMPLETION = MLRUN_FILE_OPS, MLRUN_FILE_PURPOSES };

// What a probe on a library's function is given as its cookie: the function's number | what it is to be read of
// (enum mlrun_cuda_reads, mlrun_cufile_reads) << 16.
enum { MLRUN_LIBRARY_READS_SHIFT = 16, MLRUN_LIBRARY_FUNCTIONS_MAX = 64 };

// Where an argument of a static probe (SDT, USDT) is at the probe's instruction, as the file's note says it.
enum mlrun_argument_place {
  MLRUN_ARGUMENT_CONSTANT,  // it is `value`
  MLRUN_ARGUMENT_REGISTER,
  MLRUN_ARGUMENT_MEMORY,  // `value` behind what the register points to
};
struct mlrun_probe_argument {
  __s64 value;
  __u16 place, in_registers;  // in_registers: offset of the register in struct pt_regs
  __u8 bytes, is_signed;
  __u16 spare;
};
enum { MLRUN_PROBE_ARGUMENTS_MAX = 4, MLRUN_PROBE_LAYOUTS_MAX = 1024 };
// The cookie of such a probe is the number of its layout.
struct mlrun_probe_layout {
  __u32 probe, count;
  struct mlrun_probe_argument arguments[MLRUN_PROBE_ARGUMENTS_MAX];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_probe_layout) == 72, "layout of a static probe");

// Requests of a device and kind that completed, whoever's they were. `name`: of its disk, as the kernel has it; of those that no
// other file tells the number of (the paths of an NVMe disk that has several) it is all that leads to them.
enum { MLRUN_DISK_NAME = 32 };
struct mlrun_device_key {
  __u32 device, op;
};
struct mlrun_device_total {
  __u64 requests, bytes, device_ns, errors;
  __u64 own_requests, own_bytes;  // those of them with a part of a followed process
  char name[MLRUN_DISK_NAME];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_device_total) == 80, "device totals");
