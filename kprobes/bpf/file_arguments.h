// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Finds the file and byte range of an operation in the arguments of the probed function.
#pragma once

#include "kprobes/bpf/file_op_record.h"
#include "kprobes/bpf/page_cache.h"

enum {
  kArguments = 5,
  kOpMaskOfCookie = 255,
  kAppend = 02000,       // O_APPEND
  kDirect = 040000,      // O_DIRECT
  kCreated = 0x100000,   // FMODE_CREATED
  kMajorFault = 4,       // VM_FAULT_MAJOR
  kFaultAgain = 0x400,   // VM_FAULT_RETRY: it released the mappings' lock, to wait or to read ahead
  kDirectory = 0040000,  // in st_mode
  kErrnoMax = 4095,
};

// The loader's description of the probed function, decoded from the cookie. Its fields have 64 bits, because the
// verifier of Linux 5.15 loses the bounds of 32-bit values on the stack.
struct probed {
  __u64 op, kind;  // kind: enum mlrun_arguments; a general iterator is stored as a plain one
  bool is_general;
};

static __always_inline struct probed probed_by(__u64 cookie) {
  struct probed probed = {cookie & kOpMaskOfCookie, cookie >> MLRUN_ARGUMENTS_SHIFT, false};
  probed.is_general = probed.kind == MLRUN_ARGUMENTS_GENERAL_ITERATOR;
  if (probed.is_general) probed.kind = MLRUN_ARGUMENTS_ITERATOR;
  return probed;
}

static __always_inline bool is_of_iterators(__u64 kind) { return kind == MLRUN_ARGUMENTS_ITERATOR; }

// How many arguments are read. The function has at least as many: the verifier knows them, and the type of each one.
static __always_inline __u64 arguments_used(__u64 kind) {
  switch (kind) {
    case MLRUN_ARGUMENTS_FILE:
    case MLRUN_ARGUMENTS_FAULT: return 1;
    case MLRUN_ARGUMENTS_ITERATOR:
    case MLRUN_ARGUMENTS_COMPLETION:
    case MLRUN_ARGUMENTS_NAME: return 2;
    case MLRUN_ARGUMENTS_DENTRY: return 3;
    case MLRUN_ARGUMENTS_SYNC:
    case MLRUN_ARGUMENTS_SPLICE_READ:
    case MLRUN_ARGUMENTS_SPLICE_WRITE:
    case MLRUN_ARGUMENTS_NAMES: return 4;
    case MLRUN_ARGUMENTS_CLONE: return 5;
    default: return 0;
  }
}

// The index of the argument that points to a file offset; 0: no argument does.
static __always_inline __u64 pointer_to_offset(__u64 kind) {
  return kind == MLRUN_ARGUMENTS_SPLICE_READ ? 1 : kind == MLRUN_ARGUMENTS_SPLICE_WRITE ? 2 : 0;
}

// Reads a member: by a load if the verifier knows the pointer's type, as for arguments at fentry; else through the
// kernel's helper, which costs some 25 ns a call and would be called ten times for a read(). Requires: `is_typed` is a
// constant.
#define FIELD(is_typed, pointer, member) ((is_typed) ? (pointer)->member : BPF_CORE_READ(pointer, member))

static __always_inline void look_at_inode(struct operation *operation, struct inode *inode, bool is_typed) {
  operation->inode = FIELD(is_typed, inode, i_ino);
  struct super_block *file_system = FIELD(is_typed, inode, i_sb);
  operation->device = device_by_stat(inode, file_system, FIELD(is_typed, file_system, s_dev));
}

static __always_inline void look_at_file(struct operation *operation, struct file *file, bool is_typed) {
  operation->file = (__u64)file;
  operation->flags = FIELD(is_typed, file, f_flags) & kDirect ? MLRUN_FILE_DIRECT : 0;
  look_at_inode(operation, FIELD(is_typed, file, f_inode), is_typed);
}

static __always_inline __u64 value_at(__u64 address) {
  __u64 value = kNoOffset;
  if (address) bpf_probe_read_kernel(&value, sizeof value, (void *)address);
  return value;
}

// The file offset at which a write begins: with O_APPEND the end of the file, else `offset`.
static __always_inline __u64 offset_of_write(struct file *file, __u64 offset, bool is_typed) {
  if (!(FIELD(is_typed, file, f_flags) & kAppend)) return offset;
  struct inode *inode = FIELD(is_typed, file, f_inode);
  return FIELD(is_typed, inode, i_size);
}

static __always_inline void look_at_iterator(struct operation *operation, __u32 op, const __u64 *arguments,
                                             bool is_typed) {
  struct kiocb *control = (void *)arguments[0];
  struct iov_iter *iterator = (void *)arguments[1];
  struct file *file = FIELD(is_typed, control, ki_filp);
  __u64 offset = FIELD(is_typed, control, ki_pos);
  operation->offset = op == MLRUN_FILE_WRITE ? offset_of_write(file, offset, is_typed) : offset;
  operation->control = FIELD(is_typed, control, ki_complete) ? (__u64)control : 0;
  operation->requested = FIELD(is_typed, iterator, count);
  look_at_file(operation, file, is_typed);
}

static __always_inline void look_at_fault(struct operation *operation, const __u64 *arguments, bool is_typed) {
  struct vm_fault *fault = (void *)arguments[0];
  struct vm_area_struct *area = FIELD(is_typed, fault, vma);
  look_at_file(operation, FIELD(is_typed, area, vm_file), is_typed);
  operation->offset = FIELD(is_typed, fault, pgoff) << 12;
  operation->requested = 4096;
}

static __always_inline void look_at_dentry(struct operation *operation, const __u64 *arguments, bool is_typed) {
  struct dentry *dentry = (void *)arguments[1];
  operation->file = arguments[1];
  operation->offset = arguments[2];
  look_at_inode(operation, FIELD(is_typed, dentry, d_inode), is_typed);
}

// For security_file_open, the fallback function for opens: here the kernel knows whether the open created the file.
static __always_inline void look_at_opening(struct operation *operation, const __u64 *arguments, bool is_typed) {
  struct file *file = (void *)arguments[0];
  if (FIELD(is_typed, file, f_mode) & kCreated) operation->flags |= MLRUN_FILE_CREATED;
}

static __always_inline void look_at_arguments(struct operation *operation, struct probed probed, const __u64 *arguments,
                                              bool is_typed) {
  if (is_of_iterators(probed.kind)) {
    look_at_iterator(operation, probed.op, arguments, is_typed);
    return;
  }
  operation->file = operation->inode = operation->requested = operation->control = 0;
  operation->device = operation->flags = 0;
  operation->offset = kNoOffset;
  switch (probed.kind) {
    case MLRUN_ARGUMENTS_FAULT: look_at_fault(operation, arguments, is_typed); break;
    case MLRUN_ARGUMENTS_DENTRY: look_at_dentry(operation, arguments, is_typed); break;
    case MLRUN_ARGUMENTS_FILE:
      look_at_file(operation, (void *)arguments[0], is_typed);
      if (probed.op == MLRUN_FILE_OPEN) look_at_opening(operation, arguments, is_typed);
      break;
    case MLRUN_ARGUMENTS_SYNC:
      look_at_file(operation, (void *)arguments[0], is_typed);
      operation->offset = arguments[1];
      if ((__u32)arguments[3]) operation->flags |= MLRUN_FILE_DATA_ONLY;
      break;
    case MLRUN_ARGUMENTS_CLONE:
      look_at_file(operation, (void *)arguments[2], is_typed);
      operation->offset = arguments[3];
      operation->requested = arguments[4];
      break;
    case MLRUN_ARGUMENTS_SPLICE_READ:
      look_at_file(operation, (void *)arguments[0], is_typed);
      operation->offset = value_at(arguments[1]);
      operation->requested = arguments[3];
      break;
    case MLRUN_ARGUMENTS_SPLICE_WRITE:
      look_at_file(operation, (void *)arguments[1], is_typed);
      operation->offset = value_at(arguments[2]);
      operation->requested = arguments[3];
      break;
    default: break;
  }
}
