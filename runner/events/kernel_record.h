// SPDX-License-Identifier: Apache-2.0
// Records of the kernel side: the payload of MLRUN_FRAME_KERNEL frames, concatenated, nearly ordered by `time_ns`: if
// a record was in its ring before the time of another one was taken, it comes first (kprobes/rings/ring_reader.h). Every
// record begins with the same head, which contains its length, so that a reader skips unknown kinds. All times are
// nanoseconds of CLOCK_MONOTONIC; pids and tids are those of the initial pid namespace; a device number is the kernel's
// own (major << 20 | minor).
#pragma once

#include "runner/events/types.h"

// The frame's type, in the numbers of enum mlrun_frame_type; only in the kernel side's own file.
enum { MLRUN_FRAME_KERNEL = 11 };

enum { MLRUN_KERNEL_COMM = 16 };

// Numbers are never reused.
enum mlrun_kernel_kind {
  MLRUN_KERNEL_REQUEST = 1,       // struct mlrun_block_request
  MLRUN_KERNEL_FRAGMENT = 2,      // struct mlrun_bio_fragment
  MLRUN_KERNEL_WAIT = 3,          // struct mlrun_wait
  MLRUN_KERNEL_LOSS = 4,          // struct mlrun_kernel_loss, written by mlrun-probes
  MLRUN_KERNEL_PAGES = 5,         // struct mlrun_page_add
  MLRUN_KERNEL_FILE_OP = 6,       // struct mlrun_file_op
  MLRUN_KERNEL_REMOTE = 7,        // struct mlrun_remote
  MLRUN_KERNEL_SYSCALL = 8,       // struct mlrun_syscall_sum, all at the end of a run
  MLRUN_KERNEL_FILE_DONE = 9,     // struct mlrun_file_done
  MLRUN_KERNEL_CUDA = 10,         // struct mlrun_cuda_call
  MLRUN_KERNEL_CUFILE = 11,       // struct mlrun_cufile_call
  MLRUN_KERNEL_TORCH = 12,        // struct mlrun_torch_memory
  MLRUN_KERNEL_STACK = 13,        // struct mlrun_stack_part
  MLRUN_KERNEL_CUFILE_PART = 14,  // struct mlrun_cufile_part
  // Of observed processes (mlrun --pid, --cgroup, --system). Number 15 is left for a further kind of the list above.
  MLRUN_KERNEL_TASK = 16,       // struct mlrun_task
  MLRUN_KERNEL_PROCESS = 17,    // struct mlrun_process_seen, written by mlrun-probes
  MLRUN_KERNEL_FILE_SEEN = 18,  // struct mlrun_file_seen, written by mlrun-probes
  MLRUN_KERNEL_FILE_PATH = 19,  // struct mlrun_file_path
  MLRUN_KERNEL_FILE_NAME = 20,  // struct mlrun_file_name
  MLRUN_KERNEL_MAPPINGS = 21,   // struct mlrun_mappings_seen, written by mlrun-probes
  MLRUN_KERNEL_MEMORY = 22,     // struct mlrun_memory_seen, written by mlrun-probes
  MLRUN_KERNEL_KINDS
};

struct mlrun_kernel_head {
  __u16 kind, bytes;  // bytes: of the record with this head, a multiple of 8
  __u32 cpu;
  __u64 time_ns;  // when the event ended
  __u32 pid, tid;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_kernel_head) == 24, "head of a kernel record");

enum mlrun_block_op {
  MLRUN_BLOCK_READ = 0,
  MLRUN_BLOCK_WRITE = 1,
  MLRUN_BLOCK_FLUSH = 2,
  MLRUN_BLOCK_DISCARD = 3,
  MLRUN_BLOCK_SECURE_ERASE = 4,
  MLRUN_BLOCK_WRITE_ZEROES = 5,
  MLRUN_BLOCK_ZONE = 6,   // commands of zoned devices
  MLRUN_BLOCK_OTHER = 7,  // commands that only the driver defines
};

// mlrun's own numbers, since the kernel's bits change from version to version.
enum mlrun_block_flag {
  MLRUN_BLOCK_SYNC = 1,
  MLRUN_BLOCK_META = 2,
  MLRUN_BLOCK_FUA = 4,
  MLRUN_BLOCK_PREFLUSH = 8,
  MLRUN_BLOCK_READAHEAD = 16,
  MLRUN_BLOCK_BACKGROUND = 32,
  MLRUN_BLOCK_POLLED = 64,
  MLRUN_BLOCK_ANONYMOUS = 128,      // the pages belong to no file: O_DIRECT, swap
  MLRUN_BLOCK_SPLIT = 256,          // cut off the front of a larger bio
  MLRUN_BLOCK_REMAPPED = 512,       // made by a stacked device (dm, md) from a bio sent to it
  MLRUN_BLOCK_WRITEBACK = 1024,     // another task, mostly a kernel thread, wrote what a recorded process (pid) dirtied
  MLRUN_BLOCK_STACKED = 2048,       // bio of a stacked device: it has no request
  MLRUN_BLOCK_DEVICE_INODE = 4096,  // pages of the device itself: metadata of a file system
  // A kernel thread (pid) wrote metadata (the journal) of a device to which a recorded process writes: the bio belongs
  // to no process, but fsync waits for it.
  MLRUN_BLOCK_METADATA_WRITE = 8192,
};

struct mlrun_block_request {  // pid and tid: the task on the CPU that completed it
  struct mlrun_kernel_head head;
  __u64 request;         // number, unique in a run
  __u64 queued_at_ns;    // when the first of its recorded bios was queued; 0: none was
  __u64 inserted_at_ns;  // 0: it bypassed the scheduler
  __u64 issued_at_ns;    // the last time; 0: the request itself was never issued (a flush without data)
  __u64 sector;
  __u32 bytes, device;
  __u32 op, flags;
  __s32 error;      // negative: errno; positive: the kernel's blk_status_t
  __u32 issues;     // more than 1: it was requeued
  __u32 fragments;  // bios, of any process
  __u32 spare;
  char comm[MLRUN_KERNEL_COMM];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_block_request) == 112, "request record");

struct mlrun_bio_fragment {  // pid and tid: the thread that queued it
  struct mlrun_kernel_head head;
  __u64 request;    // 0: the bio of a stacked device
  __u64 operation;  // the outermost file operation that queued it; 0: none
  __u64 queued_at_ns, issued_at_ns;
  __u64 inode;
  __u64 file_begin, file_end;  // of the whole bio as it was queued; both 0: unknown
  __u64 sector;
  __u64 cgroup;
  __u32 bytes, device;
  __u32 file_device;  // of the file system
  __u32 op, flags;
  __u32 spare;
  char comm[MLRUN_KERNEL_COMM];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_bio_fragment) == 136, "bio fragment");

enum mlrun_wait_flag {
  MLRUN_WAIT_PREEMPTED = 1,
  MLRUN_WAIT_IO = 2,          // in_iowait
  MLRUN_WAIT_SUBMITTING = 4,  // the thread had a bio that was not yet queued
  MLRUN_WAIT_EARLY = 8,       // the thread was woken while it was still going to sleep
  MLRUN_WAIT_LOST_WAKE = 16,  // the wake-up was not seen: the whole time counts as blocked
  MLRUN_WAIT_THROTTLED = 32,  // the kernel throttled the thread because too many pages were dirty
};

struct mlrun_wait {  // time_ns: when the thread ran again
  struct mlrun_kernel_head head;
  __u64 off_ns, wake_ns;
  __u64 operation;      // the outermost file operation around it; 0: none
  __u64 waker_request;  // the request that the waker's CPU was completing; 0: none
  __u32 state, flags;   // state: the kernel's task state, 0: runnable
  __u32 waker_tid;
  __u32 waker_age_ns;  // from that request's completion to the wake-up
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_wait) == 72, "wait record");

struct mlrun_page_add {  // pid and tid: the thread that brought the pages into the page cache
  struct mlrun_kernel_head head;
  __u64 inode;
  __u64 first_page;  // of the file, in pages of 4 KiB
  __u32 device;      // of the file system
  __u32 pages;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_page_add) == 48, "page record");

enum mlrun_file_op_kind {
  MLRUN_FILE_READ = 0,
  MLRUN_FILE_WRITE = 1,
  MLRUN_FILE_SYNC = 2,
  MLRUN_FILE_OPEN = 3,
  MLRUN_FILE_CLOSE = 4,  // of the last descriptor of the open file
  MLRUN_FILE_UNLINK = 5,
  MLRUN_FILE_RENAME = 6,
  MLRUN_FILE_MKDIR = 7,
  MLRUN_FILE_RMDIR = 8,
  MLRUN_FILE_TRUNCATE = 9,
  MLRUN_FILE_SPLICE_READ = 10,   // from a file into a pipe: splice, sendfile
  MLRUN_FILE_SPLICE_WRITE = 11,  // from a pipe into a file
  MLRUN_FILE_FAULT = 12,         // on a mapped file, with a page read or waited for
  MLRUN_FILE_CLONE = 13,         // blocks of one file become blocks of another one, too; nothing is copied
  MLRUN_FILE_OPS
};

enum mlrun_file_op_flag {
  MLRUN_FILE_DIRECT = 1,     // O_DIRECT
  MLRUN_FILE_DATA_ONLY = 2,  // fdatasync
  MLRUN_FILE_CREATED = 4,    // open: the file was created
  MLRUN_FILE_LATER = 8,      // submitted; it completes asynchronously
  MLRUN_FILE_MINOR = 16,     // fault: the page was cached or being read; the thread waited for it, or began read-ahead
  MLRUN_FILE_ASYNC = 32,     // by Linux's native asynchronous I/O or io_uring, which retries after EAGAIN
};

// An operation of the kernel on a file. A nested one (a file system above a second one, the fsync of a write with
// O_SYNC) has its own record, unless it is the same operation on the same open file.
struct mlrun_file_op {
  struct mlrun_kernel_head head;
  __u64 begin_ns;
  __u64 operation, outer;  // its number; that of the outermost operation around it, 0: none is
  __u64 inode;             // 0: unknown
  __u64 offset;            // ~0: unknown
  __u64 requested;
  __s64 result;  // bytes, 0, or a negative errno
  __u32 device;  // of the file system
  __u32 op, flags;
  __u32 depth : 8;         // number of operations around it
  __u32 dirty_pages : 24;  // 4 KiB pages of regular files that it made dirty; without nested operations
};
// mlrun could not attach to the kernel's event for pages that become dirty. No real count is as high: an operation moves at
// most 2 GiB, half a million pages.
enum { MLRUN_DIRTY_PAGES_UNKNOWN = (1 << 24) - 1 };
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_file_op) == 96, "file operation record");

// The end of an operation with MLRUN_FILE_LATER. It may precede the operation's own record. pid and tid: the submitter;
// time_ns: its end.
struct mlrun_file_done {
  struct mlrun_kernel_head head;
  __u64 operation;
  __s64 result;  // bytes or a negative errno; -EAGAIN: it was retried as an operation with its own record
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_file_done) == 40, "file completion record");

enum mlrun_remote_protocol {
  MLRUN_REMOTE_9P = 0,
  MLRUN_REMOTE_RPC = 1,  // sunrpc: NFS
  MLRUN_REMOTE_FUSE = 2,
  MLRUN_REMOTE_PROTOCOLS
};

enum { MLRUN_REMOTE_SERVER = 48 };  // fits an IPv6 address

// A request to a file system's server. pid and tid: the thread that sent it; time_ns: when the kernel had the answer. Bytes
// are those of the messages with headers.
struct mlrun_remote {
  struct mlrun_kernel_head head;
  __u64 begin_ns;
  __u64 operation;  // the outermost file operation that sent it; 0: none
  __u64 inode;      // of that operation's file; 0: unknown
  __u32 device;     // of its file system
  __u32 protocol;
  __u32 code;                    // 9P's message type, FUSE's opcode, the RPC procedure's number
  __s32 error;                   // 0 or a negative errno
  char name[MLRUN_KERNEL_COMM];  // RPC: of the procedure
  __u64 sent, received;          // sent: over all transmissions; received: the answer. ~0: unknown, here and below
  __u64 queue_ns, rtt_ns;        // RPC: until the last transmission, and from there to the answer
  __u32 transmissions;           // RPC: number of transmissions, 0: unknown
  __u32 version;                 // RPC: of the program
  char program[MLRUN_KERNEL_COMM], server[MLRUN_REMOTE_SERVER];  // RPC: the server's address
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_remote) == 184, "remote record");

// Numbers that no system call has (negative, or MLRUN_SYSCALL_OTHER and above) count together as MLRUN_SYSCALL_OTHER.
enum { MLRUN_SYSCALL_BUCKETS = 40, MLRUN_SYSCALL_OTHER = 1023 };
enum mlrun_syscall_flag {
  MLRUN_SYSCALL_32BIT = 1,  // numbered as for programs of 32 bits
};

// All calls of one system call by a process. tid: 0; time_ns: of the last call. `buckets` counts finished calls: bucket i
// those of 2^i to 2^(i+1) ns, the first bucket also shorter, the last also longer ones.
struct mlrun_syscall_sum {
  struct mlrun_kernel_head head;
  __u64 calls, errors, total_ns;
  __u32 number, flags;
  char comm[MLRUN_KERNEL_COMM];  // of the process, at the last call
  __u64 buckets[MLRUN_SYSCALL_BUCKETS];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_syscall_sum) == 392, "sum of system calls");

// A finished call of libcuda, seen by probes on its exports. Calls nested in it have no records. Function and
// arguments: cuda_calls.h.
enum { MLRUN_LIBRARY_ARGUMENTS = 5 };
enum mlrun_cuda_reads {
  MLRUN_CUDA_READS_FIRST = 1,     // read[0]: what the first argument points to, if the call succeeded
  MLRUN_CUDA_READS_SECOND = 2,    // read[1]: what the second argument points to, if the call succeeded
  MLRUN_CUDA_READS_LOCATION = 4,  // read[1]: location type and id in the CUmemAllocationProp of the third argument
  MLRUN_CUDA_EMITS_STACK = 8,     // if requested and the call succeeded: struct mlrun_stack_part
};
struct mlrun_cuda_call {  // time_ns: when it returned
  struct mlrun_kernel_head head;
  __u64 begin_ns;
  __u32 function;
  __s32 result;  // CUresult, 0: success
  __u64 arguments[MLRUN_LIBRARY_ARGUMENTS];
  __u64 read[2];
  __u32 unread;  // of enum mlrun_cuda_reads: what could not be read
  __u32 spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_cuda_call) == 104, "CUDA call record");

// A fragment of the stack of a call's caller, copied when the call returned. The fragments of one stack precede the
// record of their call, with the same thread and time, ordered by address; each but the first begins a page.
enum { MLRUN_STACK_PART_BYTES = 4096, MLRUN_STACK_PARTS = 8 };
// Registers that the caller resumes with: those that a function preserves.
enum mlrun_stack_register {
  MLRUN_STACK_PC,  // the call's return address
  MLRUN_STACK_SP,
  MLRUN_STACK_BP,
  MLRUN_STACK_BX,
  MLRUN_STACK_R12,
  MLRUN_STACK_R13,
  MLRUN_STACK_R14,
  MLRUN_STACK_R15,
  MLRUN_STACK_REGISTERS
};
struct mlrun_stack_part {
  struct mlrun_kernel_head head;
  __u64 address;  // of the fragment's first byte
  __u64 registers[MLRUN_STACK_REGISTERS];
  __u32 bytes, spare;
  __u8 stack[MLRUN_STACK_PART_BYTES];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_stack_part) == 4200, "fragment of a stack");

// A finished call of libcufile. Function and arguments: cufile_calls.h.
enum mlrun_cufile_reads {
  MLRUN_CUFILE_READS_HANDLE = 1,   // read[0]: the handle that the call made; fd, device and inode: of its file
  MLRUN_CUFILE_READS_RANGE = 2,    // read: what the third and fourth argument point to, a size and a file offset
  MLRUN_CUFILE_RETURNS_BYTES = 4,  // result: bytes, or a negative error; else a CUfileOpError, 0: success
  // If the call succeeded, entries of an array precede its record as fragments (struct mlrun_cufile_part). Array: the
  // third argument; number of entries: the second argument.
  MLRUN_CUFILE_LISTS_OPERATIONS = 8,
  // The same for results. Array: the fourth argument; number of entries: where the third argument points (read[0]). A call without
  // entries that took less than a millisecond has no record: programs poll in a loop.
  MLRUN_CUFILE_LISTS_RESULTS = 16,
};
struct mlrun_cufile_call {  // time_ns: when it returned
  struct mlrun_kernel_head head;
  __u64 begin_ns;
  __u32 function;
  __s32 fd;  // -1: unknown
  __s64 result;
  __u64 arguments[MLRUN_LIBRARY_ARGUMENTS];
  __u64 read[2];
  __u64 inode;   // 0: unknown
  __u32 device;  // of the file system
  __u32 unread;  // of enum mlrun_cufile_reads: what could not be read
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_cufile_call) == 120, "cuFile call record");

// A fragment of the array that a call of libcufile took or filled, copied when the call returned. The fragments of one
// array precede the record of their call, with the same thread and time, in order; the array may be cut after any of
// them. Entries: cufile_batch.h.
enum {
  MLRUN_CUFILE_PART_BYTES = 1024,
  MLRUN_CUFILE_PARTS = 32,
  MLRUN_CUFILE_OPERATION_BYTES = 64,  // CUfileIOParams_t
  MLRUN_CUFILE_RESULT_BYTES = 24,     // CUfileIOEvents_t
};
struct mlrun_cufile_part {
  struct mlrun_kernel_head head;
  __u32 offset, bytes;  // offset: in the array
  __u8 entries[MLRUN_CUFILE_PART_BYTES];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_cufile_part) == 1056, "fragment of a cuFile array");

// PyTorch's allocator of GPU memory handed out or took back a block, by its static probes pytorch:malloc and
// pytorch:free. The values are the probe's own arguments; missing ones are 0.
enum mlrun_torch_probe { MLRUN_TORCH_MALLOC = 1, MLRUN_TORCH_FREE = 2 };
enum { MLRUN_TORCH_ADDRESS, MLRUN_TORCH_DEVICE, MLRUN_TORCH_BYTES, MLRUN_TORCH_STREAM, MLRUN_TORCH_ARGUMENTS };
struct mlrun_torch_memory {
  struct mlrun_kernel_head head;
  __u32 probe;   // enum mlrun_torch_probe
  __u32 unread;  // bit for each argument that could not be read
  __u64 arguments[MLRUN_TORCH_ARGUMENTS];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_torch_memory) == 64, "PyTorch memory record");

enum mlrun_task_event {
  MLRUN_TASK_FORK = 1,  // pid and tid: of the new thread; equal for the process's first thread
  MLRUN_TASK_EXEC = 2,
  MLRUN_TASK_EXIT = 3,
  MLRUN_TASK_SEEN = 4,  // the thread existed when its process was first read
};

struct mlrun_task {  // pid and tid: the thread's
  struct mlrun_kernel_head head;
  __u32 event;
  __u32 parent;  // MLRUN_TASK_FORK: the process that created the thread
  char comm[MLRUN_KERNEL_COMM];
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_task) == 48, "task record");

// A process according to /proc. Followed by `text_bytes` of JSON, an object with `ppid`, `uid`, `start_ticks`,
// `ns_pid`, `pid_namespace`, `exe`, `command` (arguments with blanks between), `cwd`, `cgroup`, then zeros up to the
// record's end.
struct mlrun_process_seen {  // pid: its own; time_ns: when it was read
  struct mlrun_kernel_head head;
  __u32 text_bytes, spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_process_seen) == 32, "process record");

// Executable file mappings of a process. Followed by `text_bytes` of whole lines of /proc/PID/maps, then zeros. What
// does not fit in one record continues in the next one, of the same process and time.
struct mlrun_mappings_seen {  // pid: its own; time_ns: when it was read
  struct mlrun_kernel_head head;
  __u32 text_bytes, spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_mappings_seen) == 32, "mappings record");

enum mlrun_file_seen_as { MLRUN_SEEN_OPEN = 0, MLRUN_SEEN_OPEN_FOLDER = 1, MLRUN_SEEN_MAPPED = 2 };

// A file that a process has open or mapped. Followed by `path_bytes` of its path by /proc, then zeros.
struct mlrun_file_seen {
  struct mlrun_kernel_head head;
  __u64 inode;
  __u32 device;  // of the file system
  __u32 as;
  __u32 path_bytes, spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_file_seen) == 48, "file record");

enum mlrun_file_path_flag {
  MLRUN_PATH_FOLDER = 1,
  MLRUN_PATH_CREATED = 2,  // the file was created
};
enum { MLRUN_PATH_NAMES_MAX = 4096 };

// The path by which a file was opened, unless the last record of this inode has the same path. Followed by `names_bytes` of
// names from the file's own up to the root of its mount namespace, a '/' after each ("file/folder/" is /folder/file),
// then zeros. On overlayfs also for the inode that has the data, with the path of the file above it.
struct mlrun_file_path {  // pid and tid: the thread that opened it
  struct mlrun_kernel_head head;
  __u64 begin_ns;  // of the outermost file operation that opened it; without one: time_ns
  __u64 inode;
  __u32 device;  // of the file system
  __u32 flags;
  __u32 names_bytes;
  __u32 magic;  // type of the file system (linux/magic.h)
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_file_path) == 56, "path record");

// A name passed to an operation on names, and its start folder. Followed by `folder_bytes` of names from that folder's
// own up to the root of the mount namespace, as after mlrun_file_path, then `name_bytes` of the name as the program
// passed it, then zeros. The folder is that of the descriptor, the current one, or, for a name that begins with '/',
// the process's root.
struct mlrun_file_name {  // pid and tid: of the operation; time_ns: when it began
  struct mlrun_kernel_head head;
  __u64 operation;  // mlrun_file_op's, whose record follows or was lost
  __u32 which;      // 0; 1: the new name of a rename
  __u32 folder_bytes, name_bytes, spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_file_name) == 48, "name record");

// Use of the machine's memory, by /proc/meminfo: once a second, when recording begins and when it ends.
struct mlrun_memory_seen {  // pid and tid: 0; time_ns: when it was read
  struct mlrun_kernel_head head;
  __u64 buffers_bytes, cached_bytes;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_memory_seen) == 40, "memory record");

// Losses on one CPU between two reads of the counters.
enum mlrun_kernel_loss_reason {
  MLRUN_KERNEL_LOSS_RING = 1,  // the ring was full
  MLRUN_KERNEL_LOSS_MAP = 2,   // a table of operations in flight was full
  MLRUN_KERNEL_LOSS_OPEN = 3,  // an operation began, but its end was not recorded, or not before the run's end
  // Only bios. A kernel thread, or a process that is not recorded, wrote pages of a file that a recorded process had made
  // dirty, but the table has evicted that process. The count is an upper bound: the evicted process may have dirtied none of
  // these pages.
  MLRUN_KERNEL_LOSS_WRITER = 4,
  // Only bios of stacked devices. Their position on the device was lost, so requests of the devices below lack some or
  // all of their bios.
  MLRUN_KERNEL_LOSS_PLACE = 5,
};
struct mlrun_kernel_loss {  // time_ns: of the last one
  struct mlrun_kernel_head head;
  __u64 first_ns;  // lower bound
  __u64 count;
  __u32 of_kind, reason;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_kernel_loss) == 48, "loss record");
