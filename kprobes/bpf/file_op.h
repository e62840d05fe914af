// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Operations of the kernel on files: reads and writes of a file system, fsync, open and so on. Two pairs of programs that
// do the same, by fentry and fexit or by kprobe and kretprobe; the loader attaches them to the functions of this kernel,
// and each attachment's cookie says what the function is (shared.h).
//
// Operations of a thread that are under way stand on a stack of its own, together with the place on the thread's kernel
// stack where they began. So a return finds the operation that it ends, and one whose return was not seen is found to be
// over when another begins where it had been.
#pragma once

#include "kprobes/bpf/file_done.h"
#include "kprobes/bpf/file_name.h"
#include "kprobes/bpf/file_op_record.h"
#include "kprobes/bpf/page_cache.h"

enum {
  kArguments = 5,
  kOpMaskOfCookie = 255,
  kAppend = 02000,       // O_APPEND
  kDirect = 040000,      // O_DIRECT
  kCreated = 0x100000,   // FMODE_CREATED
  kMajorFault = 4,       // VM_FAULT_MAJOR
  kFaultAgain = 0x400,   // VM_FAULT_RETRY: it let go of the mappings, to wait or to read ahead
  kDirectory = 0040000,  // as st_mode has it
  kErrnoMax = 4095,
};
const __u64 kNumberMask = (1ull << 39) - 1;  // a number stays positive when it is signed

// Fields of what the verifier knows the type of, as an argument of a function that is traced by fentry, are read by a load each
// and not by a call of the kernel's helper, of which a read would need ten. Requires: `is_typed` is a constant.
#define FIELD(is_typed, pointer, member) ((is_typed) ? (pointer)->member : BPF_CORE_READ(pointer, member))

static __always_inline void look_at_inode(struct operation *operation, struct inode *inode, bool is_typed) {
  if (!inode) return;
  operation->inode = FIELD(is_typed, inode, i_ino);
  struct super_block *file_system = FIELD(is_typed, inode, i_sb);
  operation->device = device_by_stat(inode, file_system, FIELD(is_typed, file_system, s_dev));
}

static __always_inline void look_at_file(struct operation *operation, struct file *file, bool is_typed) {
  if (!file) return;
  operation->file = (__u64)file;
  if (FIELD(is_typed, file, f_flags) & kDirect) operation->flags |= MLRUN_FILE_DIRECT;
  look_at_inode(operation, FIELD(is_typed, file, f_inode), is_typed);
}

static __always_inline __u64 value_at(__u64 address) {
  __u64 value = kNoOffset;
  if (address) bpf_probe_read_kernel(&value, sizeof value, (void *)address);
  return value;
}

// Where a write begins: with O_APPEND at the end of the file, whatever position it was given.
static __always_inline __u64 offset_of_write(const struct operation *operation, struct file *file, __u64 offset,
                                             bool is_typed) {
  bool appends = operation->op == MLRUN_FILE_WRITE && FIELD(is_typed, file, f_flags) & kAppend;
  if (!appends) return offset;
  struct inode *inode = FIELD(is_typed, file, f_inode);
  return FIELD(is_typed, inode, i_size);
}

static __always_inline void look_at_iterator(struct operation *operation, const __u64 *arguments, bool is_typed) {
  struct kiocb *control = (void *)arguments[0];
  struct iov_iter *iterator = (void *)arguments[1];
  struct file *file = FIELD(is_typed, control, ki_filp);
  look_at_file(operation, file, is_typed);
  operation->offset = offset_of_write(operation, file, FIELD(is_typed, control, ki_pos), is_typed);
  if (FIELD(is_typed, control, ki_complete)) operation->control = (__u64)control;
  operation->requested = FIELD(is_typed, iterator, count);
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

static __always_inline void tell_given_name(const struct operation *operation, __s32 folder, __u64 name, __u32 which) {
  struct given_name given = {.folder = folder, .which = which};
  given.text = (__u64)BPF_CORE_READ((struct filename *)name, name);
  if (given.text) tell_name(operation->op - MLRUN_FILE_UNLINK, operation->number, &given);
}

// By security_file_open, where the functions that it lies in are not there: by then it is known whether the file was made.
static __always_inline void look_at_opening(struct operation *operation, const __u64 *arguments, bool is_typed) {
  struct file *file = (void *)arguments[0];
  if (FIELD(is_typed, file, f_mode) & kCreated) operation->flags |= MLRUN_FILE_CREATED;
}

static __always_inline bool is_of_iterators(__u32 kind) {
  return kind == MLRUN_ARGUMENTS_ITERATOR || kind == MLRUN_ARGUMENTS_GENERAL_ITERATOR;
}

static __always_inline void look_at_arguments(struct operation *operation, __u32 kind, const __u64 *arguments,
                                              bool is_typed) {
  if (is_of_iterators(kind)) look_at_iterator(operation, arguments, is_typed);
  if (kind == MLRUN_ARGUMENTS_FAULT) look_at_fault(operation, arguments, is_typed);
  if (kind == MLRUN_ARGUMENTS_DENTRY) look_at_dentry(operation, arguments, is_typed);
  if (kind == MLRUN_ARGUMENTS_FILE) look_at_file(operation, (void *)arguments[0], is_typed);
  if (kind == MLRUN_ARGUMENTS_FILE && operation->op == MLRUN_FILE_OPEN) look_at_opening(operation, arguments, is_typed);
  if (kind == MLRUN_ARGUMENTS_SYNC) {
    look_at_file(operation, (void *)arguments[0], is_typed);
    operation->offset = arguments[1];
    if ((__u32)arguments[3]) operation->flags |= MLRUN_FILE_DATA_ONLY;
  }
  if (kind == MLRUN_ARGUMENTS_CLONE) {
    look_at_file(operation, (void *)arguments[2], is_typed);
    operation->offset = arguments[3];
    operation->requested = arguments[4];
  }
  if (kind == MLRUN_ARGUMENTS_SPLICE_READ) {
    look_at_file(operation, (void *)arguments[0], is_typed);
    operation->offset = value_at(arguments[1]);
    operation->requested = arguments[3];
  }
  if (kind == MLRUN_ARGUMENTS_SPLICE_WRITE) {
    look_at_file(operation, (void *)arguments[1], is_typed);
    operation->offset = value_at(arguments[2]);
    operation->requested = arguments[3];
  }
}

// A thread that has had an operation was followed then. It still is, unless it may have left its cgroup or be another user's
// now. One without may only have written out what others had made dirty.
static __always_inline struct thread_state *own_state(struct task_struct *task, struct thread_state *thread) {
  bool may_have_left = scope != MLRUN_SCOPE_FLAGGED || own_only;
  if (thread && thread->numbers && !may_have_left) return is_over ? 0 : thread;
  if (!is_followed(task)) return 0;
  if (thread) return thread;
  thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_MAP);
  return thread;
}

// Pipes and sockets are closed as well.
static __always_inline bool is_of_a_file_system(const struct operation *operation) {
  struct file *file = (void *)operation->file;
  __u32 type = BPF_CORE_READ(file, f_inode, i_mode) & kFileType;
  return type == kRegularFile || type == kDirectory;
}

// Unique for as long as a thread's number is not used again within a millionth of a second.
static __always_inline __u64 next_number(struct thread_state *thread) {
  if (!thread->numbers) thread->numbers = now_ns() >> 10;
  __u64 tid = (__u32)bpf_get_current_pid_tgid();
  return (++thread->numbers << MLRUN_OPERATION_STEP_SHIFT & kNumberMask << MLRUN_OPERATION_STEP_SHIFT) | tid;
}

static __always_inline void forget_above(struct thread_state *thread, __u64 frame) {
  for (int i = 0; i < kNested; i++) {
    __u32 depth = thread->depth;
    if (!depth || operation_at(thread, depth - 1)->frame > frame) return;
    thread->depth = depth - 1;
    if (!operation_at(thread, depth - 1)->is_silent) count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_OPEN);
  }
}

// Functions by which somebody has read or written, as the file systems' operations name them. Some of them call the general one, which
// is probed as well for file systems that have none of their own. Each takes its place before it calls that. Two that have the same
// place take it in turns; then the general one's operation is found to be the one that it lies in. Of the function, not of the table
// that names it: the verifier takes that for a pointer still, with which it allows no arithmetic.
enum { kOwnFunctions = 32 };
__u64 own_functions[kOwnFunctions];

static __always_inline __u64 *place_of(__u64 function) { return &own_functions[function >> 4 & (kOwnFunctions - 1)]; }

// By which the file system of the open file reads or writes. Requires: the probed function has the arguments of an iterator.
static __always_inline __u64 function_of_file(__u64 control, __u32 op, bool is_typed) {
  struct file *file = FIELD(is_typed, (struct kiocb *)control, ki_filp);
  const struct file_operations *operations = FIELD(is_typed, file, f_op);
  return op == MLRUN_FILE_READ ? (__u64)FIELD(is_typed, operations, read_iter)
                               : (__u64)FIELD(is_typed, operations, write_iter);
}

static __always_inline void note_own_function(__u64 function) {
  __u64 *place = place_of(function);
  if (*place != function) *place = function;
}

// True: the operation is also that of the file system's own function. Told first and at little cost, since every read of such a
// file system comes here twice.
static __always_inline bool is_told_by_own_function(__u64 cookie, __u64 control, bool is_typed) {
  if (cookie >> MLRUN_ARGUMENTS_SHIFT != MLRUN_ARGUMENTS_GENERAL_ITERATOR) return false;
  const __u64 function = function_of_file(control, cookie & kOpMaskOfCookie, is_typed);
  return function && *place_of(function) == function;
}

static __always_inline int begin_operation(__u64 frame, __u64 cookie, const __u64 *arguments, bool is_typed) {
  if (is_completion(cookie)) return tell_completion(arguments[0], arguments[1]);
  if (is_told_by_own_function(cookie, arguments[0], is_typed)) return 0;
  struct task_struct *task = bpf_get_current_task_btf();
  struct thread_state *thread = own_state(task, bpf_task_storage_get(&threads, task, 0, 0));
  if (!thread) return 0;
  if (cookie >> MLRUN_ARGUMENTS_SHIFT == MLRUN_ARGUMENTS_ITERATOR)
    note_own_function(function_of_file(arguments[0], cookie & kOpMaskOfCookie, is_typed));
  forget_above(thread, frame);
  __u32 depth = thread->depth;
  if (depth >= kNested) {
    count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  struct operation *operation = operation_at(thread, depth);
  operation->frame = frame;
  operation->number = next_number(thread);
  operation->file = operation->inode = operation->requested = operation->control = 0;
  operation->offset = kNoOffset;
  operation->device = operation->flags = operation->dirtied = 0;
  operation->op = cookie & kOpMaskOfCookie;
  look_at_arguments(operation, cookie >> MLRUN_ARGUMENTS_SHIFT, arguments, is_typed);
  struct operation *above = operation_at(thread, depth - 1);
  bool is_repeated = depth && operation->file && above->file == operation->file && above->op == operation->op;
  operation->is_silent = is_repeated || (operation->op == MLRUN_FILE_CLOSE && !is_of_a_file_system(operation));
  if (operation->is_silent) operation->control = 0;
  if (operation->control) note_handed_in(operation);
  __u32 kind = cookie >> MLRUN_ARGUMENTS_SHIFT;
  if (kind == MLRUN_ARGUMENTS_NAME || kind == MLRUN_ARGUMENTS_NAMES)
    tell_given_name(operation, arguments[0], arguments[1], 0);
  if (kind == MLRUN_ARGUMENTS_NAMES) tell_given_name(operation, arguments[2], arguments[3], 1);
  operation->begin_ns = now_ns();
  thread->depth = depth + 1;
  return 0;
}

// Most functions return an int, or bytes.
static __always_inline __s64 result_of(struct operation *operation, __u32 kind, __u64 returned) {
  if (kind == MLRUN_ARGUMENTS_FILE) return operation->op == MLRUN_FILE_OPEN ? (__s32)returned : 0;
  if (kind == MLRUN_ARGUMENTS_FILE_RESULT) {
    if (returned >= (__u64)-kErrnoMax) return (__s64)returned;
    struct file *file = (void *)returned;
    look_at_file(operation, file, false);
    if (BPF_CORE_READ(file, f_mode) & kCreated) operation->flags |= MLRUN_FILE_CREATED;
    return 0;
  }
  bool is_long = is_of_iterators(kind) || kind == MLRUN_ARGUMENTS_SPLICE_READ || kind == MLRUN_ARGUMENTS_SPLICE_WRITE ||
                 kind == MLRUN_ARGUMENTS_CLONE;
  return is_long ? (__s64)returned : (__s32)returned;
}

static __always_inline int end_operation(__u64 frame, __u64 cookie, __u64 returned) {
  __u64 end_ns = now_ns();
  struct thread_state *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
  if (!thread || !thread->depth) return 0;
  forget_above(thread, frame - 1);
  __u32 depth = thread->depth - 1;
  if (depth >= kNested) return 0;
  struct operation *operation = operation_at(thread, depth);
  if (operation->frame != frame) return 0;
  __s64 result = result_of(operation, cookie >> MLRUN_ARGUMENTS_SHIFT, returned);
  bool is_fault = operation->op == MLRUN_FILE_FAULT, had_pages = is_fault && !(result & (kMajorFault | kFaultAgain));
  if (is_fault && !(result & kMajorFault)) operation->flags |= MLRUN_FILE_MINOR;
  if (operation->control) note_returned(operation, result);
  if (!operation->is_silent && !had_pages) tell_operation(thread, operation, depth, result, end_ns);
  if (operation->is_silent && depth) operation_at(thread, depth - 1)->dirtied += operation->dirtied;
  thread->depth = depth;
  return 0;
}

// No more than there are: the verifier takes each for what it is in the function.
static __always_inline int arguments_used(__u32 kind) {
  switch (kind) {
    case MLRUN_ARGUMENTS_FILE:
    case MLRUN_ARGUMENTS_FAULT: return 1;
    case MLRUN_ARGUMENTS_ITERATOR:
    case MLRUN_ARGUMENTS_GENERAL_ITERATOR:
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

// The cookie of a program that has no probe yet: of no function. The loader loads each of the next two once for every function
// that it attaches them to, and writes that one's cookie in its place, so that only what its kind of function needs is left of
// them, and the verifier knows what its arguments are.
static __always_inline __u64 written_cookie(void) {
  __u64 cookie;
  asm volatile("%0 = %1" : "=r"(cookie) : "i"(MLRUN_COOKIE_TO_COME));
  return cookie;
}

// vfs_read is a stand-in. Read from the context itself, arguments keep their types.
SEC("fentry/vfs_read")
int on_file_op_entry(__u64 *context) {
  __u64 arguments[kArguments] = {};
  __u64 cookie = written_cookie();
  int used = arguments_used(cookie >> MLRUN_ARGUMENTS_SHIFT);
  if (used > 0) arguments[0] = context[0];
  if (used > 1) arguments[1] = context[1];
  if (used > 2) arguments[2] = context[2];
  if (used > 3) arguments[3] = context[3];
  if (used > 4) arguments[4] = context[4];
  return begin_operation((__u64)context, cookie, arguments, true);
}

SEC("fexit/vfs_read")
int on_file_op_exit(__u64 *context) {
  __u64 returned = 0;
  __u64 cookie = written_cookie();
  if (is_told_by_own_function(cookie, context[0], true)) return 0;
  bpf_get_func_ret(context, &returned);
  return end_operation((__u64)context, cookie, returned);
}

SEC("kprobe")
int on_file_op_call(struct pt_regs *registers) {
  __u64 arguments[kArguments] = {registers->di, registers->si, registers->dx, registers->cx, registers->r8};
  return begin_operation(registers->sp, bpf_get_attach_cookie(registers), arguments, false);
}

// The return has taken its address off the stack.
SEC("kretprobe")
int on_file_op_return(struct pt_regs *registers) {
  return end_operation(registers->sp - sizeof(__u64), bpf_get_attach_cookie(registers), registers->ax);
}
