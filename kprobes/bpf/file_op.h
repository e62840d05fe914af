// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Operations of the kernel on files: reads and writes of a file system, fsync, open and so on. There are two equivalent
// pairs of programs, for fentry and fexit and for kprobe and kretprobe; the loader attaches one of them to each
// function of this kernel that is probed. A cookie says which kind of function it is: a kprobe has it, and the loader
// writes it into the code of an fentry program (shared.h).
//
// Each thread has a stack of its current operations, with the address on its kernel stack where each began. By this
// address a return finds the operation that it ends. When another operation begins at the same address, the first one
// has ended and its return was missed.
#pragma once

#include "kprobes/bpf/dirty.h"
#include "kprobes/bpf/file_arguments.h"
#include "kprobes/bpf/file_done.h"
#include "kprobes/bpf/file_name.h"
#include "kprobes/bpf/file_op_record.h"

const __u64 kNumberMask = ~0ull >> 1;  // stays positive as a signed number

// The state of the current thread; NULL: it is not traced, or out of memory. A thread with an operation number has
// already been found to be traced. Operation numbers are unique unless a thread id is reused within a microsecond.
static __always_inline struct thread_state *own_state(struct task_struct *task) {
  struct thread_state *thread = thread_of(task);
  if (thread && thread->number && stay_observed) return thread;
  if (!is_observed(task)) return 0;
  if (!thread) thread = thread_made_for(task);
  if (!thread) count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_MAP);
  if (thread && !thread->number) thread->number = (now_ns() >> 10) << MLRUN_OPERATION_STEP_SHIFT | tid_of(task);
  return thread;
}

// Requires: `thread` comes from own_state.
static __always_inline __u64 next_number(struct thread_state *thread) {
  return thread->number = (thread->number + (1 << MLRUN_OPERATION_STEP_SHIFT)) & kNumberMask;
}

// False for pipes, sockets and devices, whose closes reach the same function.
static __always_inline bool is_of_a_file_system(const struct operation *operation) {
  struct file *file = (void *)operation->file;
  __u32 type = BPF_CORE_READ(file, f_inode, i_mode) & kFileType;
  return type == kRegularFile || type == kDirectory;
}

// Drops the operations that began at or below the stack address `frame`, whose returns were missed. Returns how many
// remain.
static __always_inline __u32 forget_above(struct thread_state *thread, __u64 frame) {
  __u32 depth = thread->depth;
  for (int i = 0; i < kNested; i++) {
    if (!depth || operation_at(thread, depth - 1)->frame > frame) return depth;
    thread->depth = --depth;
    if (!operation_at(thread, depth)->is_unrecorded) count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_OPEN);
  }
  return depth;
}

// forget_above as a BPF function, which the verifier checks only once (file_name.h).
__noinline int forget_above_apart(struct thread_state *thread, __u64 frame) {
  return thread ? forget_above(thread, frame) : 0;
}

// The file systems' own read and write functions that have been called so far, by address. Some of them call a general
// function (generic_file_read_iter), which is probed too, for file systems that have no other. The own function is
// stored here before it calls the general one, so that the operation is recorded once. If two functions have the same
// slot they replace each other; then is_unrecorded() finds that the general function's operation is nested.
enum { kOwnFunctions = 32 };
__u64 own_functions[kOwnFunctions];

// Uses the address's lower half: newer verifiers allow no arithmetic on a whole pointer.
static __always_inline __u64 *place_of(__u64 function) {
  __u32 half;
  asm volatile("%0 = %1" : "=w"(half) : "w"((__u32)function));
  return &own_functions[half >> 4 & (kOwnFunctions - 1)];
}

// The function by which the file system of the open file reads or writes. Requires: the probed function has the
// arguments of an iterator.
static __always_inline __u64 function_of_file(__u64 control, __u32 op, bool is_typed) {
  struct file *file = FIELD(is_typed, (struct kiocb *)control, ki_filp);
  const struct file_operations *operations = FIELD(is_typed, file, f_op);
  return op == MLRUN_FILE_READ ? (__u64)FIELD(is_typed, operations, read_iter)
                               : (__u64)FIELD(is_typed, operations, write_iter);
}

// True: this is a general function, and the file system's own function records the operation. Checked first and
// cheaply: each read of such a file system calls both functions.
static __always_inline bool has_own_function(struct probed probed, __u64 control, bool is_typed) {
  if (!probed.is_general) return false;
  const __u64 function = function_of_file(control, probed.op, is_typed);
  return function && *place_of(function) == function;
}

// Stores the file system's own function in own_functions. Does so only when the thread's open file changes, to save
// time. Until it is stored, is_unrecorded() finds that the general function's operation is nested.
static __always_inline void note_own_function(struct thread_state *thread, const struct operation *operation,
                                              struct probed probed, __u64 control, bool is_typed) {
  if (probed.is_general || thread->noted_file == operation->file) return;
  thread->noted_file = operation->file;
  const __u64 function = function_of_file(control, probed.op, is_typed);
  __u64 *place = place_of(function);
  if (*place != function) *place = function;
}

static __always_inline void emit_given_name(const struct operation *operation, __s32 folder, __u64 name, __u32 which,
                                            bool is_typed) {
  struct given_name given = {.folder = folder, .which = which};
  __u32 program = operation->op - MLRUN_FILE_UNLINK;
  given.text = (__u64)BPF_CORE_READ((struct filename *)name, name);
  if (!given.text) return;
  if (is_typed)
    emit_name(program, operation->number, &given);
  else
    emit_name_apart(program, operation->number, given.text, folder, which);
}

static __always_inline bool is_unrecorded(struct thread_state *thread, const struct operation *operation, __u32 depth,
                                          struct probed probed) {
  if (depth) {
    struct operation *above = operation_at(thread, depth - 1);
    if (operation->file && above->file == operation->file && above->op == probed.op) return true;
  }
  return probed.kind == MLRUN_ARGUMENTS_FILE && probed.op == MLRUN_FILE_CLOSE && !is_of_a_file_system(operation);
}

static __always_inline int begin_operation(__u64 frame, struct probed probed, const __u64 *arguments, bool is_typed) {
  struct thread_state *thread = own_state(bpf_get_current_task_btf());
  if (!thread) return 0;
  __u32 depth = is_typed ? forget_above(thread, frame) : (__u32)forget_above_apart(thread, frame);
  if (depth >= kNested) {
    count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  struct operation *operation = operation_at(thread, depth);
  operation->frame = frame;
  operation->number = next_number(thread);
  operation->op = probed.op;
  operation->dirtied = 0;
  look_at_arguments(operation, probed, arguments, is_typed);
  if (is_of_iterators(probed.kind)) note_own_function(thread, operation, probed, arguments[0], is_typed);
  operation->is_unrecorded = is_unrecorded(thread, operation, depth, probed);
  if (operation->control && !operation->is_unrecorded) note_handed_in(operation, depth);
  if (probed.kind == MLRUN_ARGUMENTS_NAME || probed.kind == MLRUN_ARGUMENTS_NAMES)
    emit_given_name(operation, arguments[0], arguments[1], 0, is_typed);
  if (probed.kind == MLRUN_ARGUMENTS_NAMES)
    emit_given_name(operation, arguments[2], arguments[3], kSecondName, is_typed);
  operation->begin_ns = now_ns();
  thread->depth = depth + 1;
  return 0;
}

// The result of an operation, from the value that the probed function returned.
static __always_inline __s64 result_of(struct operation *operation, struct probed probed, __u64 returned) {
  if (probed.kind == MLRUN_ARGUMENTS_FILE) return probed.op == MLRUN_FILE_OPEN ? (__s32)returned : 0;
  if (probed.kind == MLRUN_ARGUMENTS_FILE_RESULT) {
    if (returned >= (__u64)-kErrnoMax) return (__s64)returned;
    struct file *file = (void *)returned;
    look_at_file(operation, file, false);
    if (BPF_CORE_READ(file, f_mode) & kCreated) operation->flags |= MLRUN_FILE_CREATED;
    return 0;
  }
  bool is_long = is_of_iterators(probed.kind) || probed.kind == MLRUN_ARGUMENTS_SPLICE_READ ||
                 probed.kind == MLRUN_ARGUMENTS_SPLICE_WRITE || probed.kind == MLRUN_ARGUMENTS_CLONE;
  return is_long ? (__s64)returned : (__s32)returned;
}

// The operation that began at the stack address `frame`; NULL: none did. Drops operations nested in it, whose returns
// were missed.
static __always_inline struct operation *operation_of(struct thread_state *thread, __u64 frame) {
  struct operation *last = operation_at(thread, thread->depth - 1);
  if (!thread->depth || last->frame == frame) return thread->depth ? last : 0;
  __u32 depth = forget_above(thread, frame - 1);
  last = operation_at(thread, depth - 1);
  return depth && last->frame == frame ? last : 0;
}

static __always_inline int end_operation(__u64 frame, struct probed probed, __u64 returned) {
  __u64 end_ns = now_ns();
  struct thread_state *thread = thread_in_operation(bpf_get_current_task_btf());
  struct operation *operation = thread ? operation_of(thread, frame) : 0;
  if (!operation) return 0;
  __u32 depth = thread->depth - 1;
  __s64 result = result_of(operation, probed, returned);
  bool is_fault = probed.kind == MLRUN_ARGUMENTS_FAULT;
  if (is_fault && !(result & kMajorFault)) operation->flags |= MLRUN_FILE_MINOR;
  if (probed.op == MLRUN_FILE_WRITE) note_overwriting(operation, result);
  if (operation->is_unrecorded) {
    if (depth) operation_at(thread, depth - 1)->dirtied += operation->dirtied;
  } else if (!is_fault || result & (kMajorFault | kFaultAgain)) {
    if (operation->control) note_returned(operation, result);
    emit_operation(thread, operation, depth, is_fault ? 0 : result, end_ns);
  }
  thread->depth = depth;
  return 0;
}

// A load-time constant (shared.h) as a number in the code. The loader loads each of the next four programs once for
// every function that it attaches the program to, with the constants set to the facts of that function. So only the
// code for that kind of function remains, and the verifier knows the types of its arguments.
#define WRITTEN(TO_COME)                                     \
  ({                                                         \
    __u64 written_;                                          \
    asm volatile("%0 = %1" : "=r"(written_) : "i"(TO_COME)); \
    written_;                                                \
  })

// Reads argument `i` as a number, if it is a pointer: before Linux 5.17 the verifier refuses pointers to non-structs,
// and it allows no arithmetic on pointers to structs.
static __always_inline __u64 untyped_word(const __u64 *context, __u64 i) {
  __u64 word = 0;
  bpf_probe_read_kernel(&word, sizeof word, &context[i]);
  return word;
}

// The loader replaces vfs_read by the function to be probed. To the verifier, arguments read from the context itself
// have their types.
SEC("fentry/vfs_read")
int on_file_op_entry(__u64 *context) {
  __u64 arguments[kArguments] = {};
  struct probed probed = probed_by(WRITTEN(MLRUN_COOKIE_TO_COME));
  __u64 used = arguments_used(probed.kind), untyped = pointer_to_offset(probed.kind);
  if (used > 0) arguments[0] = context[0];
  if (used > 1) arguments[1] = untyped == 1 ? untyped_word(context, 1) : context[1];
  if (used > 2) arguments[2] = untyped == 2 ? untyped_word(context, 2) : context[2];
  if (used > 3) arguments[3] = context[3];
  if (used > 4) arguments[4] = context[4];
  if (probed.kind == MLRUN_ARGUMENTS_COMPLETION) return emit_completion(arguments[0], arguments[1]);
  return begin_operation((__u64)context, probed, arguments, true);
}

// In assembler: the verifier wants a constant offset into the context, and the compiler would merge all loads into one.
#define WORD_OF(CONTEXT, I)                                                                             \
  ({                                                                                                    \
    __u64 word_;                                                                                        \
    asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word_) : "r"(CONTEXT), "i"((I) * (int)sizeof(__u64))); \
    word_;                                                                                              \
  })

// The returned value, which is after the arguments in the context. bpf_get_func_ret would need Linux 5.17.
static __always_inline __u64 returned_of(const __u64 *context) {
  __u64 word = WRITTEN(MLRUN_RETURN_TO_COME);
  if (word == 1) return WORD_OF(context, 1);
  if (word == 2) return WORD_OF(context, 2);
  if (word == 3) return WORD_OF(context, 3);
  if (word == 4) return WORD_OF(context, 4);
  if (word == 5) return WORD_OF(context, 5);
  if (word == 6) return WORD_OF(context, 6);
  return 0;
}

SEC("fexit/vfs_read")
int on_file_op_exit(__u64 *context) {
  struct probed probed = probed_by(WRITTEN(MLRUN_COOKIE_TO_COME));
  __u64 returned = 0;
  if (probed.kind == MLRUN_ARGUMENTS_FILE_RESULT)
    returned = untyped_word(context, WRITTEN(MLRUN_RETURN_TO_COME));
  else
    returned = returned_of(context);
  return end_operation((__u64)context, probed, returned);
}

// The next two programs are for reads and writes, by far the most frequent operations: the kind is a compile-time
// constant, and the result is the word after two arguments. True: the loader has not set the load-time constants; then
// the programs return at once, because vfs_read, to which they would be attached, has other arguments.
static __always_inline bool has_no_probe(void) { return WRITTEN(MLRUN_OP_TO_COME) == MLRUN_OP_TO_COME; }

SEC("fentry/vfs_read")
int on_iteration_entry(__u64 *context) {
  if (has_no_probe()) return 0;
  struct probed probed = {WRITTEN(MLRUN_OP_TO_COME), MLRUN_ARGUMENTS_ITERATOR, WRITTEN(MLRUN_GENERAL_TO_COME)};
  if (has_own_function(probed, context[0], true)) return 0;
  return begin_operation((__u64)context, probed, context, true);
}

SEC("fexit/vfs_read")
int on_iteration_exit(__u64 *context) {
  if (has_no_probe()) return 0;
  struct probed probed = {WRITTEN(MLRUN_OP_TO_COME), MLRUN_ARGUMENTS_ITERATOR, WRITTEN(MLRUN_GENERAL_TO_COME)};
  if (has_own_function(probed, context[0], true)) return 0;
  return end_operation((__u64)context, probed, context[2]);
}

SEC("kprobe")
int on_file_op_call(struct pt_regs *registers) {
  __u64 arguments[kArguments] = {registers->di, registers->si, registers->dx, registers->cx, registers->r8};
  struct probed probed = probed_by(bpf_get_attach_cookie(registers));
  if (probed.kind == MLRUN_ARGUMENTS_COMPLETION) return emit_completion(arguments[0], arguments[1]);
  if (has_own_function(probed, arguments[0], false)) return 0;
  return begin_operation(registers->sp, probed, arguments, false);
}

// The return has popped its address from the stack.
SEC("kretprobe")
int on_file_op_return(struct pt_regs *registers) {
  struct probed probed = probed_by(bpf_get_attach_cookie(registers));
  return end_operation(registers->sp - sizeof(__u64), probed, registers->ax);
}
