// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Types that the BPF programs share with their loader (mlrun-probes): map values, cookies and load-time constants. Sizes are
// asserted, since two compilers lay the structs out.
#pragma once

#include "runner/events/kernel_record.h"

enum { MLRUN_PROBE_REASONS = 8, MLRUN_PROBE_LOSSES = MLRUN_KERNEL_KINDS * MLRUN_PROBE_REASONS };

// Which tasks are traced. Processes with the flag `observed` (tasks.h) are traced in every scope.
enum mlrun_scope { MLRUN_SCOPE_FLAGGED = 0, MLRUN_SCOPE_CGROUP = 1, MLRUN_SCOPE_SYSTEM = 2 };

// A loss counter. Its index in the map: processor * MLRUN_PROBE_LOSSES + kind * MLRUN_PROBE_REASONS + reason. Writers
// set `last_ns` before they raise `count`.
struct mlrun_probe_loss {
  __u64 count, last_ns;
};

// The cookie of a kprobe, or the number that the loader writes into an fentry program: op | arguments << 8.
// `arguments` is the parameter list of the probed function, which says where to find the file.
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
  // Like ITERATOR, for generic_file_read_iter and _write_iter: some file systems have no other function, some call it
  // from a function of their own.
  MLRUN_ARGUMENTS_GENERAL_ITERATOR,
  MLRUN_ARGUMENTS_NAME,   // (int folder, struct filename *)
  MLRUN_ARGUMENTS_NAMES,  // (int folder, struct filename *, int folder of the new one, struct filename *)
};
enum { MLRUN_ARGUMENTS_SHIFT = 8 };
// Placeholders in fentry and fexit programs, which the loader replaces for each probed function: by the cookie, the
// cookie's `op`, 1 for a general iterator (else 0), and the index of the return value in the fexit context (0: none).
enum {
  MLRUN_COOKIE_TO_COME = 0x7ec00c1e,
  MLRUN_OP_TO_COME = 0x7ec00c2e,
  MLRUN_GENERAL_TO_COME = 0x7ec00c3e,
  MLRUN_RETURN_TO_COME = 0x7ec00c4e,
};
enum { MLRUN_RETURN_AT_MOST = 6 };

// Placeholder of a call: on kernels that have bpf_rdonly_cast (6.2), the loader replaces it by a call of that function.
enum { MLRUN_CAST_TO_COME = 0x7ec00ca5 };

// Values of the flag `observed`, and results of observed_as() (tasks.h); 0: not traced.
enum mlrun_observed_as {
  MLRUN_OBSERVED = 1,
  MLRUN_OBSERVED_LAUNCHER = 2,  // mlrun's own child, before it becomes the command
};

// A short record of an outermost file operation, a third as long as a whole record. It is used when thread, file and
// processor are those of the thread's last whole record. The loader expands it (whole_records.h), so the spool has only
// whole records. After the loss of a whole record, the thread's next record is whole again.
struct mlrun_short_file_op {
  __u8 kind;       // MLRUN_SHORT_FILE_OP; other records have the low byte of their kind here
  __u8 op, flags;  // enum mlrun_file_op_kind, mlrun_file_op_flag
  __u8 step;       // the operation's number minus that of the thread's previous outermost operation
  __u32 tid;
  __u64 time_ns;  // end of the operation; at the same offset in every record
  __u32 duration_ns;
  __s32 result;
  __u64 offset_and_rest;  // start offset | bytes requested but not moved << MLRUN_SHORT_OFFSET_BITS
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_short_file_op) == 32, "short record of a file operation");
enum { MLRUN_SHORT_FILE_OP = 255, MLRUN_SHORT_OFFSET_BITS = 48 };
#define MLRUN_SHORT_NO_OFFSET ((1ull << MLRUN_SHORT_OFFSET_BITS) - 1)
// A thread's records may be short for this long after a whole one. Later the loader can forget the thread.
#define MLRUN_SHORT_FOR_NS 1000000000ull
// An operation's number counts the thread's operations from this bit on; the bits below are the thread's number.
enum { MLRUN_OPERATION_STEP_SHIFT = 24 };

// Counts of one system call of one process: key and value. For 32-bit programs `number` has this bit set.
enum { MLRUN_SYSCALL_KEY_32BIT = 1 << 30 };
struct mlrun_syscall_key {
  __u32 pid, number;
  __u64 start_ns;  // start of the process, since boot: its pid may be reused
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

// Where an argument of a static probe (SDT, USDT) is when its instruction runs, according to the note in the ELF file.
enum mlrun_argument_place {
  MLRUN_ARGUMENT_CONSTANT,  // `value` itself
  MLRUN_ARGUMENT_REGISTER,
  MLRUN_ARGUMENT_MEMORY,  // at the address in the register plus `value`
};
struct mlrun_probe_argument {
  __s64 value;
  __u16 place, in_registers;  // in_registers: offset of the register in struct pt_regs
  __u8 bytes, is_signed;
  __u16 spare;
};
enum { MLRUN_PROBE_ARGUMENTS_MAX = 4, MLRUN_PROBE_LAYOUTS_MAX = 1024 };
// Arguments of a static probe. The probe's cookie is the index of its layout in the map.
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
  __u64 own_requests, own_bytes;  // only requests with a bio fragment of a traced process
  char name[MLRUN_DISK_NAME];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_device_total) == 80, "device totals");
