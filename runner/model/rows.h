// SPDX-License-Identifier: Apache-2.0
// The rows of the tables of a trace: written by the merger, read by the summary and the table writers. Times are nanoseconds
// of CLOCK_MONOTONIC; ids are those of the tables of the same name. Columns: runner/trace/TABLES.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/model/call_split.h"

namespace mlrun::model {

// Process, thread and time: the columns that every event table shares.
struct Origin {
  int64_t ts_ns = 0;
  int32_t proc_id = 0;
  int32_t image_id = 0;
  int32_t thread_id = 0;
  int32_t pid = 0;  // in mlrun's pid namespace, or in the process's own if that is unknown
  int32_t tid = 0;
};

enum class OffsetSource : uint8_t { kNone, kArgument, kDerived, kKernel, kUnknown };

// The kind of a file_id. kUnknown: never opened, or not recorded.
enum class FileKind : uint8_t {
  kUnknown,
  kRegular,
  kDirectory,
  kCharacter,
  kBlock,
  kFifo,  // a named pipe
  kSocket,
  kLink,
  kAnonymous,  // an anonymous inode of a kind that is not listed below
  kPipe,
  kSharedMemory,  // a file of /dev/shm
  kMemfd,
  kEventfd,
  kTimerfd,
  kSignalfd,
  kEpoll,
  kInotify,
  kPidfd
};

// How a call was made: through its libc function or syscall().
enum class Via : uint8_t { kFunction, kSyscall };

// Unknown or absent address. Not canonical, so no program uses it.
inline constexpr int64_t kNoAddress = INT64_MIN;

struct CallRow {
  Origin origin;
  int64_t call_id = 0;
  int64_t dur_ns = 0;
  uint16_t func = 0;  // number in hooks.def
  int32_t fd = -1;
  int64_t file_id = 0;  // 0: no file
  FileKind file_kind =
      FileKind::kUnknown;  // of file_id; not a column: lets the summary separate files from pipes and sockets
  int64_t ofd_id = 0;      // open file description; 0: none
  FileKind file2_kind = FileKind::kUnknown;  // of file2_id; this and the next two are not columns
  int64_t ofd2_id = 0;  // open file description of the target, for a call that copies between descriptors
  int64_t offset2 =
      -1;  // target's offset; mremap: old length; mmap: caller; fseek: the kernel's position at that time; -1: unknown
  int64_t offset = -1;
  OffsetSource offset_source = OffsetSource::kNone;
  int64_t requested = -1;  // bytes; -1: the call has no such argument
  int64_t ret = 0;         // return value (-1 on error)
  int32_t err = 0;         // errno, 0: none
  int32_t flags = 0;       // open: O_ flags; mmap: MAP_, mremap: MREMAP_ flags; mprotect: PROT_; fcntl: command; else 0
  int64_t arg2 = 0;        // further argument: hooks.def and TABLES.md define it
  int64_t file2_id = 0;    // rename, link: the new name; copies: the target; 0: none
  Via via = Via::kFunction;
  int64_t wanted_addr = kNoAddress;  // mmap, mremap: the requested address
  int32_t served_calls = 1;          // stdio: library calls served by this refill or flush
  int32_t stack_id = 0;              // 0: none
  const CallSplit* split = nullptr;  // how the call's time divides; nullptr: unknown
  int64_t gpu_file_id = 0;           // the libcufile call that made this call; 0: none
  int32_t poster_thread_id = 0;      // the thread that ended this wait; 0: unknown
};

struct AllocRow {
  Origin origin;
  int64_t dur_ns = -1;  // -1: not measured
  uint16_t op = 0;      // enum mlrun_kind
  uint64_t address = 0;
  int64_t size = 0;
  int64_t usable = 0;
  uint64_t old_address = 0;
  int64_t old_usable = 0;  // realloc: usable size before; 0: not a realloc
  int64_t align = 0;
  double weight = 1;         // number of blocks that the row represents (--alloc-sample)
  uint64_t site = 0;         // return address of the allocating call
  int64_t site_library = 0;  // name_id of the library that contains `site`; 0: unknown
  int64_t site_offset = 0;   // file offset of `site` in the library
  int32_t stack_id = 0;      // 0: none
};

// How the counts of one size class of one thread changed between two reads of the counters.
struct AllocSmallRow {
  Origin origin;
  int64_t class_bytes = 0;
  int64_t mallocs = 0, frees = 0;
  int64_t bytes = 0;  // net change; exact in coarse classes, count × class size in fine ones
};

struct ProcessRow {
  int32_t proc_id = 0;
  int32_t pid = 0, ns_pid = 0, ppid = 0;
  int32_t parent_proc_id = 0;  // 0: unknown
  int64_t pid_namespace = 0;
  int64_t start_ticks = 0;
  int64_t first_ns = 0, last_ns = 0;
  int64_t uid = -1;
  int32_t rank = -1, local_rank = -1, world_size = -1;
  uint32_t launcher = 0;  // enum mlrun_launcher: where the rank comes from; not a column
  std::string cgroup;
  std::string command;       // arguments of the last image, separated by spaces
  std::string role;          // main, loader worker, rank, child, ... (runner/summary/meters/roles.h)
  bool forked = false;       // created by fork, no exec yet
  bool ended = false;        // its end was observed; set only for observed processes (--pid, --cgroup, --system)
  std::string end;           // exit, no exit, running; empty: unknown (TABLES.md)
  int64_t exit_status = -1;  // wait status; -1: unknown
  int64_t kernel_rchar = -1, kernel_wchar = -1, kernel_syscr = -1, kernel_syscw = -1;  // /proc/PID/io at its end
  int64_t kernel_read_bytes = -1, kernel_write_bytes = -1;  // read from and written to devices; not a column
  int64_t kernel_io_ns = -1;                                // time of the values above; not a column
  bool kernel_io_final = false;  // the values were read when the last image ended; not a column
  bool end_recorded = false;  // last_ns is its own record of its exit, or of an exec without the library; not a column
};

struct ImageRow {
  int32_t image_id = 0;
  int32_t proc_id = 0;
  int64_t start_ns = 0;
  std::string exe, arguments, cwd, allocator;
  bool malloc_in_front = false;  // of mlrun's hooks, which get no call; not a column
};

struct ThreadRow {
  int32_t thread_id = 0;
  int32_t proc_id = 0, image_id = 0;
  int32_t tid = 0;
  int64_t first_ns = 0, last_ns = 0;
  std::string comm;
};

// kind: a name of FileTable::kKindNames
struct FileRow {
  int64_t file_id = 0;
  std::string path;          // absolute, lexically normal; valid UTF-8, other bytes as \xNN
  std::string raw_path;      // as passed to the call; escaped in the same way
  std::string path_bytes;    // raw bytes of the path if `path` has escapes; else empty
  int64_t dev = 0, ino = 0;  // kernel's 32-bit device number; 0, 0: never opened
  std::string file_system;   // type, e.g. ext4
  std::string mount;         // mount point
  std::string kind;
  std::string address;  // of a connected socket: address of the other end; empty: unknown
};

struct MarkRow {
  Origin origin;
  int64_t mark_id = 0;
  int64_t dur_ns = -1;
  std::string domain;   // mllog, nvtx, nvtx:NAME, api
  int64_t name_id = 0;  // 0: not assigned yet, or too many names
  std::string name;
  std::string value;     // JSON text
  std::string scope;     // thread, process, run
  bool is_open = false;  // the mark never ended
  int64_t error_ns = 0;  // largest error of the conversion to the trace's clock
};

struct PhaseRow {
  int32_t phase_id = 0;
  std::string name;  // "epoch 1", "eval 1", ...
  int64_t ts_ns = 0, dur_ns = 0, error_ns = 0;
  int32_t proc_id = 0;
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, io_ns = 0;
  int64_t wait_ns = -1, compute_ns = -1;  // time of the driver without a batch, and computing; -1: unknown

  [[nodiscard]] int64_t end_ns() const { return ts_ns + dur_ns; }
};

// A GPU, or a MIG instance of one.
struct GpuRow {
  int32_t gpu_id = 0;
  std::string kind;  // gpu, mig
  std::string name, uuid, pci, driver;
  int32_t index = -1;     // the index of NVML (nvidia-smi)
  int32_t parent_id = 0;  // 0: not an instance
  int32_t gpu_instance = -1, compute_instance = -1;
  int64_t memory_bytes = -1;
  int32_t numa_node = -1;  // NUMA node next to the GPU; -1: unknown
};

struct LossRow {
  std::string channel;  // interposer, spool, clock, ...
  std::string reason;
  int32_t proc_id = 0, thread_id = 0;
  int64_t first_ns = 0, last_ns = 0;
  int64_t count = 0;
  std::string unit;  // records, bytes, processes, calls
  int32_t cpu = -1;  // the processor whose records were lost; -1: several or unknown
  std::string kind;  // kind of the dropped records; empty: unknown, or not about records
};

// Calls that have no rows because of --include and --exclude. Only their number, bytes and time are known.
struct LeftOutRow {
  int32_t proc_id = 0;
  std::string reason;  // path rules
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, time_ns = 0;
};

// Sum of short calls of one process, file and function (--fold).
struct FoldedRow {
  int32_t proc_id = 0;
  int64_t file_id = 0;  // 0: no file
  std::string func;
  int64_t calls = 0, bytes = 0, time_ns = 0;
  int64_t first_ns = 0, last_ns = 0;  // start of the first, end of the last
};

// Sum of similar calls or allocations (--summary-only).
struct SumBucket {
  int64_t low = 0, high = 0;  // low <= value < high
  int64_t calls = 0, bytes = 0;
};
struct SumRow {
  int64_t sum_id = 0;
  CallRow call;     // the fields that all calls of the sum have in common; of an allocation only origin and stack_id
  uint16_t op = 0;  // enum mlrun_kind; 0: a call
  std::string func;
  int64_t site_library = 0, site_offset = 0;  // of allocations, as in AllocRow
  int32_t stretch = -1;                       // stretch of phases; -1: several
  int32_t phase_id = 0;                       // the shortest phase that contains the stretch; 0: none, or several
  bool of_several_files = false, of_several_sites = false;
  int64_t calls = 0, served_calls = 0, bytes = 0, time_ns = 0;
  int64_t min_ns = 0, max_ns = 0, first_ns = 0, last_ns = 0;
  std::vector<SumBucket> times, sizes;
};
// One bucket of one sum: a row of its table.
struct SumBucketRow {
  int64_t sum_id = 0;
  std::string measure;  // duration, size
  SumBucket bucket;
};

// Levels. kUnseen: bytes or memory may have moved unrecorded, so the run is not fully covered. kRemark: for information only.
inline constexpr const char* kUnseen = "unseen";
inline constexpr const char* kRemark = "remark";

struct CoverageRow {
  int32_t proc_id = 0;  // 0: the whole run
  std::string subject;  // what was not fully recorded
  std::string detail;
  int64_t seen = -1, kernel = -1;  // e.g. bytes by the interposer and by /proc/PID/io; -1: unknown
  std::string level = kUnseen;     // or kRemark

  [[nodiscard]] bool is_remark() const { return level == kRemark; }
};

}  // namespace mlrun::model
