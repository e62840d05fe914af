// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The fallback for file operations: programs at the entry and return of system calls. Used on kernels whose functions
// cannot be probed (file_op.h), in runs without libmlrun_preload.so in the processes. Records have the same form, with
// the times of the calls. Operations without such a call have no record: page faults, executed programs, aio, io_uring.
//
// Every system call of the machine runs an attached program, so the early exit is short: one table lookup for calls
// that are not on files, then one check of the task for untraced processes.
#pragma once

#include "kprobes/bpf/descriptor.h"
#include "kprobes/bpf/file_op.h"
#include "kprobes/bpf/file_path.h"
#include "kprobes/bpf/loop.h"

// The arguments of a call that identify its file.
enum file_call {
  kNoFileCall,
  kBytes,       // (fd, buffer, bytes), at the file's position
  kBytesAt,     // (fd, buffer, bytes, offset)
  kVectors,     // (fd, vectors, count), at the file's position
  kVectorsAt,   // (fd, vectors, count, offset); offset -1: at the file's position
  kDescriptor,  // (fd)
  kDescriptorData,
  kNewLength,     // (fd, length)
  kLengthOfName,  // (path, length)
  kNames,
  kUnlinkAt,  // (folder, path, flags)
  kNewFile,   // returns a descriptor
  kSendfile,  // (to, from, offset of from, bytes)
  kSplice,    // (from, offset, to, offset, bytes)
};
enum {
  kCallNumbers = 512,     // exclusive upper bound of system call numbers
  kCallShift = 4,         // an entry of the table is op | file_call << 4
  kRemoveFolder = 0x200,  // AT_REMOVEDIR
  kNoProgramsOfIt = 2,    // SB_I_NOEXEC
  kMinorBits = 20,
  kDataSync = 010000,        // O_DSYNC, a bit of O_SYNC
  kMetadataSync = 04000000,  // O_SYNC without O_DSYNC
  kSyncsWrites = 1,          // S_SYNC of an inode
  kSyncsAllWrites = 16,      // SB_SYNCHRONOUS of a file system
  kPwritev2 = 328,           // its argument `flags` may have the next two bits
  kDataSyncOfCall = 2,       // RWF_DSYNC
  kSyncOfCall = 4,           // RWF_SYNC
  kIsEmitted = 1,            // `frame` of operations[1] if the call has a second operation
  kVectorsMax = 1024,        // UIO_MAXIOV
  kVectorsMaxBefore = 64,
};

#define CALL(how, op) (MLRUN_FILE_##op | (how) << kCallShift)
static const __u8 file_calls[kCallNumbers] = {
    [0] = CALL(kBytes, READ),
    [1] = CALL(kBytes, WRITE),
    [2] = CALL(kNewFile, OPEN),
    [3] = CALL(kDescriptor, CLOSE),
    [17] = CALL(kBytesAt, READ),           // pread64
    [18] = CALL(kBytesAt, WRITE),          // pwrite64
    [19] = CALL(kVectors, READ),           // readv
    [20] = CALL(kVectors, WRITE),          // writev
    [40] = CALL(kSendfile, SPLICE_READ),   // sendfile64
    [74] = CALL(kDescriptor, SYNC),        // fsync
    [75] = CALL(kDescriptorData, SYNC),    // fdatasync
    [76] = CALL(kLengthOfName, TRUNCATE),  // truncate
    [77] = CALL(kNewLength, TRUNCATE),     // ftruncate
    [82] = CALL(kNames, RENAME),           // rename
    [83] = CALL(kNames, MKDIR),            // mkdir
    [84] = CALL(kNames, RMDIR),            // rmdir
    [85] = CALL(kNewFile, OPEN),           // creat
    [87] = CALL(kNames, UNLINK),           // unlink
    [257] = CALL(kNewFile, OPEN),          // openat
    [258] = CALL(kNames, MKDIR),           // mkdirat
    [263] = CALL(kUnlinkAt, UNLINK),       // unlinkat
    [264] = CALL(kNames, RENAME),          // renameat
    [275] = CALL(kSplice, SPLICE_READ),    // splice
    [295] = CALL(kVectorsAt, READ),        // preadv
    [296] = CALL(kVectorsAt, WRITE),       // pwritev
    [316] = CALL(kNames, RENAME),          // renameat2
    [326] = CALL(kSplice, SPLICE_READ),    // copy_file_range
    [327] = CALL(kVectorsAt, READ),        // preadv2
    [328] = CALL(kVectorsAt, WRITE),       // pwritev2
    [437] = CALL(kNewFile, OPEN),          // openat2
};
#undef CALL

// The same calls by their numbers in 32-bit programs (i386): only counted, not recorded.
static const __u8 file_calls_of_32_bits[kCallNumbers] = {
    [3] = 1,   [4] = 1,   [5] = 1,   [6] = 1,   [8] = 1,   [10] = 1,  [38] = 1,  [39] = 1,  [40] = 1,
    [92] = 1,  [93] = 1,  [118] = 1, [145] = 1, [146] = 1, [148] = 1, [180] = 1, [181] = 1, [187] = 1,
    [193] = 1, [194] = 1, [239] = 1, [295] = 1, [296] = 1, [301] = 1, [302] = 1, [313] = 1, [333] = 1,
    [334] = 1, [353] = 1, [377] = 1, [378] = 1, [379] = 1, [437] = 1};
__u64 unrecorded_32bit_calls;

static __always_inline __u32 entry_of(const __u8 *table, __u64 number) {
  if (number >= kCallNumbers) return 0;
  asm volatile("" : "+r"(number));  // keeps the mask, which the verifier needs
  return table[number & (kCallNumbers - 1)];
}

// True: a pseudo file system (proc, sysfs, cgroups), which is on no disk. Its own functions are not probed either.
static __always_inline bool is_made_up(struct super_block *file_system, __u32 device, bool is_typed) {
  return !(device >> kMinorBits) && FIELD(is_typed, file_system, s_iflags) & kNoProgramsOfIt;
}

// False: the operation is not recorded. Recorded are all operations on regular files, all but closes on block devices,
// and syncs and closes of folders, but none in pseudo file systems (is_made_up).
static __always_inline bool look_at_open_file(struct operation *operation, struct file *file, bool is_typed) {
  if (!file) return false;
  struct inode *inode = FIELD(is_typed, file, f_inode);
  __u32 type = FIELD(is_typed, inode, i_mode) & kFileType;
  bool has_folders = operation->op == MLRUN_FILE_SYNC || operation->op == MLRUN_FILE_CLOSE;
  bool has_devices = operation->op != MLRUN_FILE_CLOSE;
  if (type != kRegularFile && !(has_folders && type == kDirectory) && !(has_devices && type == kBlockDevice))
    return false;
  look_at_inode(operation, inode, is_typed);
  if (FIELD(is_typed, file, f_flags) & kDirect) operation->flags |= MLRUN_FILE_DIRECT;
  return !is_made_up(FIELD(is_typed, inode, i_sb), operation->device, is_typed);
}

static __always_inline bool is_last_descriptor(struct file *file) {
  struct file___count *counted = (void *)file;
  struct file___ref *referenced = (void *)file;
  if (bpf_core_field_exists(referenced->f_ref)) return BPF_CORE_READ(referenced, f_ref.refcnt.counter) == 0;
  return BPF_CORE_READ(counted, f_count.counter) == 1;
}

struct vector_sum {
  __u64 vectors, count, bytes;
};

static long add_vector(__u32 index, void *context) {
  struct vector_sum *sum = context;
  __u64 bytes = 0;
  if (index >= sum->count) return 1;
  bpf_probe_read_user(&bytes, sizeof bytes, (void *)(sum->vectors + index * 16ull + 8));  // iov_len
  sum->bytes += bytes;
  return 0;
}

static __always_inline __u64 bytes_of_vectors(struct pt_regs *registers) {
  struct vector_sum sum = {registers->si, registers->dx, 0};
  run_loop(kVectorsMax, kVectorsMaxBefore, add_vector, &sum);
  return sum.bytes;
}

// `address`: where user memory holds the offset; 0: the call uses the file's position.
static __always_inline __u64 offset_at(__u64 address, struct file *file) {
  __u64 offset = kNoOffset;
  if (!address) return BPF_CORE_READ(file, f_pos);
  bpf_probe_read_user(&offset, sizeof offset, (void *)address);
  return offset;
}

static __always_inline void clear_operation(struct operation *operation, struct thread_state *thread, __u32 op) {
  operation->number = next_number(thread);
  operation->frame = operation->file = operation->inode = operation->requested = operation->control = 0;
  operation->offset = kNoOffset;
  operation->device = operation->flags = operation->dirtied = 0;
  operation->op = op;
  operation->is_unrecorded = false;
}

// For sendfile, splice and copy_file_range. Between two files, the write is recorded as nested in the read, both with
// the times of the call. If one side is a pipe or socket, only the operation on the file is recorded.
static __always_inline bool look_at_both(struct thread_state *thread, __u32 from_fd, __u64 from_offset, __u32 to_fd,
                                         __u64 to_offset, __u64 bytes) {
  struct operation *reads = &thread->operations[0], *writes = &thread->operations[1];
  struct file *from = file_at(from_fd), *to = file_at(to_fd);
  clear_operation(writes, thread, MLRUN_FILE_SPLICE_WRITE);
  writes->requested = reads->requested = bytes;
  if (look_at_open_file(writes, to, false)) {
    writes->offset = offset_at(to_offset, to);
    writes->frame = kIsEmitted;
  }
  if (look_at_open_file(reads, from, false)) {
    reads->offset = offset_at(from_offset, from);
    return true;
  }
  if (!writes->frame) return false;
  *reads = *writes;
  writes->frame = 0;
  return true;
}

// Whether a write is synchronous, as O_SYNC bits: by the open flags, the flags of the call, the inode (chattr +S) or
// the file system (mount -o sync).
static __always_inline __u32 syncs_of_write(struct pt_regs *registers, struct file *file, bool is_typed) {
  struct inode *inode = FIELD(is_typed, file, f_inode);
  struct super_block *file_system = FIELD(is_typed, inode, i_sb);
  __u32 flags = FIELD(is_typed, file, f_flags), of_call = registers->orig_ax == kPwritev2 ? registers->r9 : 0;
  if (of_call & kSyncOfCall) flags |= kDataSync | kMetadataSync;
  bool has_own = of_call & kDataSyncOfCall || FIELD(is_typed, inode, i_flags) & kSyncsWrites;
  if (has_own || FIELD(is_typed, file_system, s_flags) & kSyncsAllWrites) flags |= kDataSync;
  return flags;
}

// Adds the sync that a synchronous write waits for, as operations[1].
static __always_inline void look_at_sync(struct thread_state *thread, __u32 file_flags) {
  struct operation *writes = &thread->operations[0], *syncs = &thread->operations[1];
  if (!(file_flags & kDataSync)) return;
  clear_operation(syncs, thread, MLRUN_FILE_SYNC);
  syncs->inode = writes->inode;
  syncs->device = writes->device;
  syncs->offset = writes->offset;
  syncs->flags = writes->flags | (file_flags & kMetadataSync ? 0 : MLRUN_FILE_DATA_ONLY);
  syncs->frame = kIsEmitted;
}

static __always_inline bool look_at_bytes(struct thread_state *thread, struct pt_regs *registers, __u32 how,
                                          bool is_typed) {
  struct operation *operation = &thread->operations[0];
  struct file *file = file_behind(registers->di, is_typed);
  if (!look_at_open_file(operation, file, is_typed)) return false;
  operation->file = (__u64)file;  // note_overwriting reads the inode's generation from it
  bool has_offset = how == kBytesAt || (how == kVectorsAt && registers->r10 != -1ul);
  operation->offset = has_offset ? registers->r10 : FIELD(is_typed, file, f_pos);
  if (operation->op == MLRUN_FILE_WRITE) operation->offset = offset_of_write(file, operation->offset, is_typed);
  operation->requested = how == kBytes || how == kBytesAt ? registers->dx : bytes_of_vectors(registers);
  if (operation->op == MLRUN_FILE_WRITE) look_at_sync(thread, syncs_of_write(registers, file, is_typed));
  return true;
}

static __always_inline bool look_at_descriptor_alone(struct operation *operation, struct pt_regs *registers,
                                                     __u32 how) {
  struct file *file = file_at(registers->di);
  if (!look_at_open_file(operation, file, false)) return false;
  if (operation->op == MLRUN_FILE_CLOSE) return is_last_descriptor(file);
  if (operation->op == MLRUN_FILE_SYNC) operation->offset = 0;
  if (how == kDescriptorData) operation->flags |= MLRUN_FILE_DATA_ONLY;
  if (how == kNewLength) operation->offset = registers->si;
  return true;
}

// False: the call is not recorded.
static __always_inline bool look_at_call(struct thread_state *thread, struct pt_regs *registers, __u32 how) {
  struct operation *operation = &thread->operations[0];
  switch (how) {
    case kBytes:
    case kBytesAt:
    case kVectors:
    case kVectorsAt:
      return type_of_file ? look_at_bytes(thread, registers, how, true) : look_at_bytes(thread, registers, how, false);
    case kDescriptor:
    case kDescriptorData:
    case kNewLength: return look_at_descriptor_alone(operation, registers, how);
    case kLengthOfName: operation->offset = registers->si; return true;
    case kUnlinkAt:
      if (registers->dx & kRemoveFolder) operation->op = MLRUN_FILE_RMDIR;
      return true;
    case kSendfile: return look_at_both(thread, registers->si, registers->dx, registers->di, 0, registers->r10);
    case kSplice:
      return look_at_both(thread, registers->di, registers->si, registers->dx, registers->r10, registers->r8);
    default: return true;  // calls with names, and opens: on_file_call and on_file_call_end read these
  }
}

static __always_inline bool is_on_names(__u32 how) { return how == kNames || how == kUnlinkAt || how == kLengthOfName; }

// Emits the names in a call's arguments. False: one of them could not be read.
static __always_inline bool emit_names(const struct operation *operation, struct pt_regs *registers) {
  enum { kMkdirAt = 258 };  // calls from this number on pass a folder's descriptor before each name
  const __u64 number = registers->orig_ax;
  const __u32 first = kNameOfUser, second = kNameOfUser | kSecondName;
  bool has_folders = number >= kMkdirAt;
  __s32 folder = has_folders ? (__s32)registers->di : kCurrentFolder;
  __s32 new_folder = has_folders ? (__s32)registers->dx : kCurrentFolder;
  __u64 name = has_folders ? registers->si : registers->di, new_name = has_folders ? registers->r10 : registers->si;
  if (!emit_name_apart(0, operation->number, name, folder, first)) return false;
  return operation->op != MLRUN_FILE_RENAME || emit_name_apart(0, operation->number, new_name, new_folder, second);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_file_call, struct pt_regs *registers, long number) {
  struct task_struct *task = bpf_get_current_task_btf();
  bool is_32bit = is_in_32bit_call(task);
  __u32 entry = is_32bit ? entry_of(file_calls_of_32_bits, number) : entry_of(file_calls, number);
  if (!entry) return 0;
  struct thread_state *thread = own_state(task);
  if (!thread) return 0;
  if (is_32bit) {
    __sync_fetch_and_add(&unrecorded_32bit_calls, 1);
    return 0;
  }
  if (thread->depth) count_loss(MLRUN_KERNEL_FILE_OP, MLRUN_KERNEL_LOSS_OPEN);
  thread->depth = 0;
  clear_operation(&thread->operations[0], thread, entry & ((1 << kCallShift) - 1));
  thread->operations[1].frame = 0;
  if (!look_at_call(thread, registers, entry >> kCallShift)) return 0;
  if (is_on_names(entry >> kCallShift)) thread->operations[0].file = emit_names(&thread->operations[0], registers);
  thread->operations[0].begin_ns = now_ns();
  thread->depth = 1;
  return 0;
}

// Completes the operation with the opened file, which the returned descriptor identifies. Returns 0 or -errno.
static __always_inline __s64 result_of_open(struct operation *operation, __s64 result) {
  if (result < 0) return result;
  struct file *file = file_at(result);
  if (!file) return 0;
  look_at_file(operation, file, false);
  operation->is_unrecorded = is_made_up(BPF_CORE_READ(file, f_inode, i_sb), operation->device, false);
  if (operation->is_unrecorded) return 0;
  if (BPF_CORE_READ(file, f_mode) & kCreated) operation->flags |= MLRUN_FILE_CREATED;
  emit_path(file);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_file_call_end, struct pt_regs *registers, long result) {
  __u32 entry = entry_of(file_calls, registers->orig_ax);
  if (!entry) return 0;
  struct thread_state *thread = thread_of(bpf_get_current_task_btf());
  if (!thread || !thread->depth) return 0;
  __u64 end_ns = now_ns();
  struct operation *operation = &thread->operations[0], *inner = &thread->operations[1];
  __s64 emitted = operation->op == MLRUN_FILE_OPEN ? result_of_open(operation, result) : result;
  // At entry the name may have been in a page that was not in memory. The call may have paged it in.
  if (is_on_names(entry >> kCallShift) && !operation->file) emit_names(operation, registers);
  // At entry the vectors may have been in a page that was not in memory, so that `requested` is too small.
  if (emitted > 0 && operation->requested < (__u64)emitted) operation->requested = emitted;
  if (inner->frame && inner->op == MLRUN_FILE_SPLICE_WRITE) {
    inner->dirtied = operation->dirtied;
    operation->dirtied = 0;
  }
  if (inner->frame && (inner->op != MLRUN_FILE_SYNC || result > 0)) {
    inner->begin_ns = operation->begin_ns;
    emit_operation(thread, inner, 1, inner->op == MLRUN_FILE_SYNC ? 0 : emitted, end_ns);
  }
  if (operation->op == MLRUN_FILE_WRITE) note_overwriting(operation, emitted);
  if (!operation->is_unrecorded) emit_operation(thread, operation, 0, emitted, end_ns);
  thread->depth = 0;
  return 0;
}
