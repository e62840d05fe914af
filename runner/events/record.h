// SPDX-License-Identifier: Apache-2.0
// Records: a thread appends them to its segments. Rows of 16-byte units, at most 255; a word is 8 bytes.
//
//   w0  {tag 8 | units 8 | kind 16 | arg 32}     stored last (arena.h, lap rule)
//   w1  clock of the channel: when the call began (calls, realloc, mappings), else the time of the event
//   w2… payload. The low byte of every even word is a tag byte and stays 0; odd words are free.
//
// Layouts by kind. "<< 8" keeps the tag byte clear; signed fields are shifted arithmetically.
//
//   alloc      arg = low half of the return address
//              w2 = address << 5 | low 12 bits of usable - size << 52 (0: as much as requested, or unknown)
//              w3 = size (48) | return address bits 32..47 << 48
//              3 units: w4 = duration << 8 (0: not measured), w5 = alignment (48, 0: none) | (usable - size) >> 12 << 48
//              realloc, 4 units: w4 = old address << 5, w5 = old usable size, w6 = duration << 8, w7 = (usable - size) >> 12
//              free: size is the usable size, excess 0
//
//   free time  duration of a free (--alloc-dur): w1 = clock of its record, which precedes this one on the same
//              channel; arg = mlrun_short_duration. The free itself is recorded before its block is released, so that
//              the order of blocks at an address is that of the clock, whatever the free does, and even if a signal
//              handler never returns to it
//
//   call on a  arg = fd (the new one for calls that make one)
//   descriptor w2 = duration << 8
//              w3 = bytes requested, or as hooks.def defines for the function
//              w4 = (result, or -errno) << 8
//              w5 = file offset; MLRUN_NO_OFFSET: not an argument
//                   msync, madvise: the flags or the advice; waits: the thread that ended it (hooks/waits.def)
//              w6 = open file << 8 | flags << 40 (16 bits) | top byte of the result << 56 (mlrun_result_top)
//              w7 = arg2
//              5 units, a call on two descriptors: w8 = open file of the second << 8,
//              w9 = offset in it; MLRUN_NO_OFFSET: not an argument
//              5 units, mmap and mremap: w9 = requested address, w8 = 0 or as in remap.h. Earlier versions lack this
//
//   call on a  arg = result fd, or dirfd; w2, w4 and w6 as above (open file: the one that was made)
//   path       w3 = call's own (open: O_ flags | mode << 32)
//              w5 = second path's string id (rename, link), else 0
//              w7 = path's string id, 0: unreadable
//              5 units: w8 = open file of dirfd << 8, w9 = open file of the second dirfd
//              6 units: the same, and w10 = 0, w11 = string id of the working directory: a path is relative to it
//
//   file       defines an open file (MLRUN_FILE): arg = its number
//              w2 = kernel device number << 8 | enum mlrun_file_origin << 40
//              w3 = inode
//              w4 = st_mode << 8 | O_ flags << 40 (24 bits), if origin is FOUND
//              w5 = path's string id, as passed or by /proc
//              w6 = open file of dirfd << 8
//              w7 = string id of the working directory, 0: not needed
//
//   socket     addresses of a connected socket (MLRUN_SOCKET): arg = number of its open file; w1 = begin of the call
//              w2 = bytes of its own address << 8 | of the other end's << 16 | accepted << 24 | pid of the process that
//              connected (AF_UNIX, accepted; 0: unknown) << 32; w3 = duration of the call
//              then both addresses, as in struct sockaddr, in units of 15 bytes behind a tag byte
//
//   string     arg = bytes in this fragment (16) | fragment << 16 | last << 24; w1 = id, no clock
//              then units of 15 bytes behind a tag byte
//
//   process    arg = pid; see enum mlrun_process_word
//
//   end        /proc/self/io at exit or exec, all ones if unreadable: w2 = exit status << 8 (0: unknown), w3 = rchar,
//              w4 = syscr << 8, w5 = wchar, w6 = syscw << 8, w7 = read_bytes, w8 = write_bytes << 8, w9 = 0
//
//   mark       push (of the thread), instant, start (of the process): arg = bytes of text (16) | enum mlrun_mark_source
//              << 16 (8) | has payload << 24; w2 = number of the range << 8 (start), w3 = domain's string id, 0: none
//              with a payload: w4 = category << 8 | enum mlrun_mark_payload << 40, w5 = the payload's eight bytes
//              a structure: w4 has the number of its bytes << 48, w5 = string id of its layout (0: unknown, no bytes),
//              and the bytes follow, in units of 15 behind a tag byte
//              then the text, units of 15 bytes behind a tag byte
//              pop, end: arg = source << 16; w2 = number of the range << 8 (end), w3 = domain (pop); with a structure as
//              above, but without a text
//
//              The layout of a structure is a text, as registered by NVTX's payload extension, numbers in decimal:
//                schema type, static size or 0, alignment of packed members or 0
//                F flags, type, array length or the like, offset, bytes of an enumeration or 0, name   for each member
//                V value, name                                              behind its member, of an enumeration
//              Fields of a line are separated by one blank; only a name may contain blanks, and it is the last.
//
//   comm       arg = tid; w2 = 0; w3 = string id of the thread's new name
//
//   GPU work   reported by CUPTI. w1 is when the record was written, on the channel's clock; the work's own times are
//              nanoseconds of CLOCK_MONOTONIC whatever that clock is. arg = correlation id, the same in a call and in
//              what it launched, w2 = start << 8, w3 = end
//              w4 = device (16) << 8 | enum mlrun_gpu_clock << 24 | detail << 32; device: CUPTI's number in the process
//              w6 = context << 8, w7 = stream | graph << 32
//     api      w4: device 0, detail = number of the function | enum mlrun_gpu_api << 24, w5 = tid | result << 32,
//              w6 = 0, w7 = function's string id
//     kernel   detail = registers of a thread, w5 = graph node, w8 = grid x << 8 | block x << 40, w9 = grid y | grid z
//              << 32, w10 = block y << 8 | block z << 24, w11 = name's string id (as mangled), w12 = static shared bytes
//              << 8, w13 = dynamic shared bytes | local bytes of a thread << 32
//     memcpy   detail = CUPTI's kind of copy | kind of source << 8 | of destination << 16 | flags << 24, w5 = bytes,
//              w8 = source device (16) << 8 | destination device (16) << 24 | between devices << 40, w9 = graph node
//     memset   detail = CUPTI's kind of memory | flags << 16, w5 = bytes, w8 = value << 8, w9 = graph node
//     sync     detail = CUPTI's type, w5 = event
//     memory   start = end; detail = CUPTI's operation | kind of memory << 8 | kind of pool << 16 | asynchronous << 24,
//              w5 = bytes, w7: stream alone, w9 = address; of a pool w8 = its bytes << 8, w10 = bytes in use << 8,
//              w11 = its address; one unit more if CUPTI reports the caller: w12 = 0, w13 = program counter
//     graph    a launch as a whole, where it begins; detail = 0, w5 = 0; or folded: number of nodes, sum of their times
//     caller   stack of a GPU allocation's caller (--stacks), by its thread: start and end around the call, arg = 0,
//              w4 = 0, w5 = address, w6 = 0, w7 = id of its stack
//     host     the host buffer of a copy, by the copying thread: start and end around the call, arg = 0, w4: detail =
//              number of pages whose node was queried (8) | phase (host_pages.h) << 8 | errno << 16 | 1 << 24 if
//              the pages are the destination's, w5 = source, w6 = bytes of the buffer << 8, w7 = destination,
//              w8 = nodes of the first seven pages << 8, w9 = nodes of the other pages, a byte each
//
//   GPU device arg = device; w2 = multiprocessors << 8 | capability (major << 8 | minor) << 40, w3 = bytes of memory,
//              w4 = is MIG << 8, w5, w7 = UUID, w6 = 0, w8 = 0, w9 = name's string id, w10 = w12 = 0, w11, w13 = MIG UUID
//
//   GPU note   state of the recording of GPU work: arg = enum mlrun_gpu_note, w2 = code << 8, w3 = count,
//              w4 = first ns << 8, w5 = last ns, w6 = 0, w7 = string id of a text, 0: none
//
//   With --stacks an allocation has no return address: these 48 bits are MLRUN_SITE_IS_STACK | id of its stack. A call
//   with MLRUN_CALL_STACK among its flags has one more unit, the last: 0, id of its stack.
//
//   stack      defines a stack of this process (MLRUN_STACK): arg = frames (8) | enum mlrun_stack_end << 8; w1 = id, no
//              clock; then a word for each frame, innermost first, << 8 in even words: offset (32) | module << 32 (21) |
//              MLRUN_FRAME_IN_MODULE, or an address outside of all modules; a return address, unless
//              MLRUN_FRAME_INTERRUPTED says that it is where a signal struck
//
//   module     defines a library of this process, or the program (MLRUN_MODULE): arg = its number (> MLRUN_FRAME_MODULE_MAX: no frame names it)
//              w2 = address of its code << 8, w3 = end of its code
//              w4 = (address in memory - address in the file) << 8: the base of frames' offsets
//              w5 = path's string id, by the dynamic linker; 0: unknown
//              w6 = file offset of its code << 8 (48) | bytes of the build id << 56, w7 = build id, bytes 0..7
//              w8 = 0, w9 = bytes 8..15, w10 = 0, w11 = bytes 16..23
#pragma once

#include "runner/events/types.h"

// Numbers are never reused. 0x40..0x7f allocations, 0x100 + n: function n of hooks.def. The three ..._END without a number follow the
// last kind of their group: a new kind goes before them.
enum mlrun_kind {
  MLRUN_PAD = 1,  // end of this segment's records; units 0
  MLRUN_STRING = 2,
  MLRUN_FILE = 3,
  MLRUN_PROCESS = 4,
  MLRUN_END = 5,
  MLRUN_COMM = 6,
  MLRUN_STACK = 7,
  MLRUN_MODULE = 8,
  MLRUN_CHILD_END = 9,  // 2 units: arg = pid, w2 = wait status << 8: how a child ended, by its parent's wait
  MLRUN_RING = 10,      // 2 units: arg = descriptor, w2 = enum mlrun_ring << 8 | operation << 16: of an io_uring
  MLRUN_SOCKET = 11,

  MLRUN_MARK_PUSH = 0x20,
  MLRUN_MARK_POP = 0x21,
  MLRUN_MARK_INSTANT = 0x22,
  MLRUN_MARK_START = 0x23,
  MLRUN_MARK_END = 0x24,
  MLRUN_MARKS_END,

  MLRUN_GPU_API = 0x28,
  MLRUN_GPU_KERNEL = 0x29,
  MLRUN_GPU_MEMCPY = 0x2a,
  MLRUN_GPU_MEMSET = 0x2b,
  MLRUN_GPU_SYNC = 0x2c,
  MLRUN_GPU_MEMORY = 0x2d,
  MLRUN_GPU_GRAPH = 0x2e,
  MLRUN_GPU_CALLER = 0x2f,
  MLRUN_GPU_HOST = 0x30,
  MLRUN_GPU_WORK_END,  // up to 0x33 reserved for more
  MLRUN_GPU_DEVICE = 0x34,
  MLRUN_GPU_NOTE = 0x35,

  MLRUN_FREE_TIME = 0x38,

  MLRUN_MALLOC = 0x40,
  MLRUN_CALLOC = 0x41,
  MLRUN_REALLOC = 0x42,
  MLRUN_REALLOCARRAY = 0x43,
  MLRUN_FREE = 0x44,
  MLRUN_POSIX_MEMALIGN = 0x45,
  MLRUN_ALIGNED_ALLOC = 0x46,
  MLRUN_MEMALIGN = 0x47,
  MLRUN_VALLOC = 0x48,
  MLRUN_PVALLOC = 0x49,
  MLRUN_ALLOC_END,

  MLRUN_CALL = 0x100
};
MLRUN_STATIC_ASSERT(MLRUN_MARKS_END <= MLRUN_GPU_API, "kinds of marks");
MLRUN_STATIC_ASSERT(MLRUN_GPU_WORK_END <= MLRUN_GPU_DEVICE, "kinds of GPU work");
MLRUN_STATIC_ASSERT(MLRUN_ALLOC_END <= 0x80, "kinds of allocations");

// How an open file became known.
enum mlrun_file_origin {
  MLRUN_ORIGIN_OPENED = 1,   // by a recorded call of this process
  MLRUN_ORIGIN_FOUND = 2,    // found on a descriptor: inherited, or made by a call that is not hooked
  MLRUN_ORIGIN_UNNAMED = 3,  // by a recorded call, in the folder that its path names (O_TMPFILE)
};

// The API that made a mark. Ranges of one API do not nest in ranges of the other.
enum mlrun_mark_source { MLRUN_MARK_API = 1, MLRUN_MARK_NVTX = 2 };

// The type of a mark's payload; NVTX's numbers.
enum mlrun_mark_payload {
  MLRUN_PAYLOAD_NONE = 0,
  MLRUN_PAYLOAD_U64 = 1,
  MLRUN_PAYLOAD_I64 = 2,
  MLRUN_PAYLOAD_DOUBLE = 3,
  MLRUN_PAYLOAD_U32 = 4,
  MLRUN_PAYLOAD_I32 = 5,
  MLRUN_PAYLOAD_FLOAT = 6,
  MLRUN_PAYLOAD_STRUCTURE = 9
};

// The state of CUPTI's times of GPU work before the producer corrected them.
enum mlrun_gpu_clock {
  MLRUN_GPU_CLOCK_MONOTONIC = 0,  // correct
  MLRUN_GPU_CLOCK_REALTIME = 1,   // of CLOCK_REALTIME; converted
  MLRUN_GPU_CLOCK_NONE = 2,       // missing: start and end are when CUPTI handed the work over
  MLRUN_GPU_CLOCK_NO_END = 3,     // unfinished: the end is when CUPTI handed the work over
  MLRUN_GPU_CLOCK_INVERTED = 4,   // the end was before the start, and is set to the start
  MLRUN_GPU_CLOCK_OUTSIDE = 5,    // before the process or in the future: replaced as in CLOCK_NONE
  MLRUN_GPU_CLOCK_OTHER = 6,      // of a clock that another tool in the process gave CUPTI; converted
  MLRUN_GPU_CLOCK_WRAPPED = 7     // of a 32-bit counter that wrapped; the missing high part is restored
};

enum mlrun_gpu_api { MLRUN_GPU_DRIVER = 1, MLRUN_GPU_RUNTIME = 2 };

enum mlrun_gpu_note {
  MLRUN_GPU_STARTED = 1,   // code = CUPTI's API version, text = the library's file
  MLRUN_GPU_OFF = 2,       // no recording: code = CUPTI's answer (0: none), text = what was tried
  MLRUN_GPU_FLUSHED = 3,   // the records of all work that had ended by `last` are written
  MLRUN_GPU_ENDED = 4,     // as FLUSHED, for the last time: the process ends normally
  MLRUN_GPU_DROPPED = 5,   // CUPTI had no buffer for `count` records
  MLRUN_GPU_OVERHEAD = 6,  // CUPTI's own work, from first to last: code = CUPTI's kind
  MLRUN_GPU_UNREAD = 7,    // `count` bytes of a buffer after a record that CUPTI itself cannot parse
  MLRUN_GPU_TAKEN = 8,     // from `first` to `last` another tool had CUPTI; last 0: still has. code: enum mlrun_taken
  MLRUN_GPU_REFUSED = 9,   // one kind of work is not recorded: code = CUPTI's answer, text = CUPTI's name of the kind
  MLRUN_GPU_FOREIGN = 10   // CUDA loads another library than mlrun's at its start: text = its file
};

enum mlrun_taken {
  MLRUN_TAKEN_SEEN = 0,   // the other tool called mlrun's functions
  MLRUN_TAKEN_UNSEEN = 1  // it bypassed them: buffers that CUPTI had filled for mlrun did not come back
};

// The launcher whose variable gave a process its rank: RANK, OMPI_COMM_WORLD_RANK and so on (launchers.def).
enum mlrun_launcher {
  MLRUN_LAUNCHER_NONE = 0,
#define LAUNCHER(number, symbol, name) MLRUN_LAUNCHER_##symbol = number,
#include "runner/events/launchers.def"
};

enum mlrun_ring {
  MLRUN_RING_MADE = 1,    // through libc's syscall()
  MLRUN_RING_USED = 2,    // the ring carried this operation (IORING_OP_…); recorded once for each operation
  MLRUN_RING_UNKNOWN = 3  // the operations of this io_uring cannot be tracked
};

enum mlrun_process_origin { MLRUN_PROCESS_LOADED = 1, MLRUN_PROCESS_FORKED = 2 };

// MLRUN_PROCESS, 8 units. A loaded image writes every word; a forked child repeats the parent's strings.
enum mlrun_process_word {
  MLRUN_PW_ORIGIN = 2,   // enum mlrun_process_origin << 8 | parent pid << 32
  MLRUN_PW_NUMBERS = 3,  // process number | image number << 32
  MLRUN_PW_START = 4,    // start time, clock ticks since boot << 8; 0: unknown
  MLRUN_PW_EXE = 5,      // string id
  MLRUN_PW_RANK = 6,     // (rank + 1) << 8 (20 bits) | (local rank + 1) << 28 (16 bits) | world size << 44; 0: not set
  MLRUN_PW_ARGUMENTS = 7,   // string id; the arguments separated by NUL, cut at 4 KiB
  MLRUN_PW_NAMESPACE = 8,   // inode of the pid namespace << 8
  MLRUN_PW_CGROUP = 9,      // string id; the raw line of /proc/self/cgroup
  MLRUN_PW_UID = 10,        // uid << 8 | glibc_malloc << 40 | own operator new << 41 | malloc in front of ours << 42
  MLRUN_PW_CWD = 11,        // string id
  MLRUN_PW_LAUNCHER = 12,   // enum mlrun_launcher << 8
  MLRUN_PW_ALLOCATOR = 13,  // string id; file of the library whose malloc is used
  MLRUN_PW_WORDS = 16
};

// MLRUN_END, 5 units. The last word is as MLRUN_PW_RANK: the rank in the environment at the end, of a process that began
// without a rank.
enum { MLRUN_EW_RANK = 9 };

// Shorter waits leave no record.
enum { MLRUN_WAIT_MIN_NS = 20000 };

enum { MLRUN_STRING_FRAGMENT_BYTES = 254 * 15 };
#define MLRUN_NO_OFFSET ((__u64)-1)

// Ids of stacks are content hashes of 47 bits, so that they fit in place of a return address, which has bit 47 clear.
#define MLRUN_SITE_IS_STACK     (1ull << 47)
#define MLRUN_STACK_ID_MASK     (MLRUN_SITE_IS_STACK - 1)
#define MLRUN_FRAME_IN_MODULE   (1ull << 53)
#define MLRUN_FRAME_INTERRUPTED (1ull << 54)
#define MLRUN_FRAME_MODULE_MAX  ((1u << 21) - 1)
enum { MLRUN_STACK_DEPTH_MAX = 128 };

// Why the walk of a stack ended.
enum mlrun_stack_end {
  MLRUN_STACK_ROOT = 0,          // the last frame has no caller
  MLRUN_STACK_DEPTH = 1,         // --stacks=DEPTH
  MLRUN_STACK_UNKNOWN_CODE = 2,  // the last frame is in no library: code made at run time
  MLRUN_STACK_NO_TABLE = 3,      // no unwind information for the last frame
  MLRUN_STACK_BROKEN = 4,        // the next step leads out of the stack
  MLRUN_STACK_BUSY = 5           // libraries were being loaded or unloaded at that moment
};

enum { MLRUN_SOCKET_ADDRESS_MAX = 128 };

// Bits of `flags` in a call record.
enum mlrun_call_flag {
  MLRUN_CALL_STDIO = 1,  // w7 = number of stdio calls that this refill or flush served; offset, if given, is exact
                         // fseek: w5 = the kernel's position after the call; if w5 is unknown and whence SEEK_CUR, w3
                         // is the distance that libc moved the kernel's position, from an unknown one
  MLRUN_CALL_CANCELLED = 2,  // the thread was cancelled inside; the result is -ECANCELED
  MLRUN_CALL_PASSED_FD = 4,  // arg is the dirfd, not a new descriptor
  MLRUN_CALL_RAW = 8,        // made by number, through syscall()
  MLRUN_CALL_STACK = 16,     // the last unit holds the id of the stack
  MLRUN_CALL_AT_EXIT = 32,   // bytes in a stream's buffer when the process ended, which libc writes after this record
  MLRUN_CALL_UNSEEN = 64,    // stdio: the stream may have moved its file since its last record, by getc, putc or scanf
  MLRUN_CALL_SEARCHED = 128  // exec that searches PATH: the name as given, since it has a '/' or was not found in PATH
};

// Properties of a program before it is executed: whether the library can be loaded.
enum mlrun_exec_target {
  MLRUN_EXEC_TRACED = 0,       // the library can be loaded
  MLRUN_EXEC_UNKNOWN = 1,      // the file cannot be read; the library is preloaded anyway
  MLRUN_EXEC_STATIC = 2,       // no dynamic linker: nothing is recorded, but its children may be
  MLRUN_EXEC_FOREIGN = 3,      // another processor: the library is left out
  MLRUN_EXEC_UNREACHABLE = 4,  // the library's file is not visible there: it is left out
  MLRUN_EXEC_RAISED = 5,       // setuid, setgid or file capabilities: ld.so ignores the library
  MLRUN_EXEC_NESTED = 6,       // another mlrun, which runs inside this one, traces it
  MLRUN_EXEC_TOO_LARGE = 7,    // its environment lacks the library and is too large for a changed copy
  MLRUN_EXEC_OTHER_LIBC = 8,   // another C library than glibc, such as musl: the library is left out
  MLRUN_EXEC_32_BIT = 9        // 32-bit: the library is left out
};

// A duration in ticks of the record clock, in 32 bits: exact below 2^31, else rounded to units of 1024, with the highest
// bit set; 2^41 and more are 2^41 - 1024.
#define MLRUN_DURATION_IS_LONG (1u << 31)
static inline __u32 mlrun_short_duration(__u64 duration) {
  if (duration < MLRUN_DURATION_IS_LONG) return (__u32)duration;
  return duration >> 41 ? ~0u : MLRUN_DURATION_IS_LONG | (__u32)(duration >> 10);
}
static inline __u64 mlrun_whole_duration(__u32 duration) {
  if (!(duration & MLRUN_DURATION_IS_LONG)) return duration;
  return (__u64)(duration & ~MLRUN_DURATION_IS_LONG) << 10;
}

// The top byte that a 64-bit result loses in 56 bits: 0 unless it is not a sign extension.
static inline __u64 mlrun_result_top(__s64 result) { return (__u64)result ^ (__u64)((__s64)((__u64)result << 8) >> 8); }
static inline __s64 mlrun_whole_result(__u64 shifted, __u64 with_top) {
  return (__s64)((__u64)((__s64)shifted >> 8) ^ (with_top >> 56 << 56));
}

static inline __u64 mlrun_word0(__u64 lap, __u64 units, __u64 kind, __u32 arg) {
  return lap | units << 8 | kind << 16 | (__u64)arg << 32;
}
