// SPDX-License-Identifier: Apache-2.0
// The rows of a merged trace, as the merger makes them and the summary and the table writers take them. Times are
// nanoseconds of CLOCK_MONOTONIC; ids are those of the tables of the same name. What each column means to a reader:
// runner/trace/TABLES.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/model/call_split.h"

namespace mlrun::model {

// Who and when: the columns that every event table shares.
struct Origin {
  int64_t ts_ns = 0;
  int32_t proc_id = 0;
  int32_t image_id = 0;
  int32_t thread_id = 0;
  int32_t pid = 0;  // as mlrun sees it; the process's own number where that is not known
  int32_t tid = 0;
};

enum class OffsetSource : uint8_t { kNone, kArgument, kDerived, kKernel, kUnknown };

// What stands behind a file_id. kUnknown: never opened, or not told.
enum class FileKind : uint8_t {
  kUnknown,
  kRegular,
  kDirectory,
  kCharacter,
  kBlock,
  kFifo,  // with a name
  kSocket,
  kLink,
  kAnonymous,  // of the kernel's own, none of the following
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

// How a call was made: through the function of its name, or by number.
enum class Via : uint8_t { kFunction, kSyscall };

// An address that is not known or not there. No program means it: it is not canonical.
inline constexpr int64_t kNoAddress = INT64_MIN;

struct CallRow {
  Origin origin;
  int64_t call_id = 0;
  int64_t dur_ns = 0;
  uint16_t func = 0;  // number in hooks.def
  int32_t fd = -1;
  int64_t file_id = 0;  // 0: no file
  FileKind file_kind =
      FileKind::kUnknown;  // of file_id; not a column: the summary tells files from pipes and sockets by it
  int64_t ofd_id = 0;      // open file description; 0: none
  FileKind file2_kind = FileKind::kUnknown;  // of file2_id; this and the next two are no columns
  int64_t ofd2_id = 0;                       // what a call from one descriptor to another wrote to
  int64_t offset2 =
      -1;  // and where; mremap: the old length, mmap: the caller; fseek: where the kernel stood then; -1: not known
  int64_t offset = -1;
  OffsetSource offset_source = OffsetSource::kNone;
  int64_t requested = -1;  // bytes asked for; -1: the call has no such argument
  int64_t ret = 0;         // as the function returned it (-1 on error)
  int32_t err = 0;         // errno, 0: none
  int32_t flags = 0;       // open: O_ flags; mmap: MAP_, mremap: MREMAP_ flags; mprotect: PROT_; fcntl: command; else 0
  int64_t arg2 = 0;        // what else the call was given: hooks.def and TABLES.md say what
  int64_t file2_id = 0;    // rename, link: the new name; copies: what was written to; 0: none
  Via via = Via::kFunction;
  int64_t wanted_addr = kNoAddress;  // mmap, mremap: where the mapping was asked for
  int32_t served_calls = 1;          // stdio: library calls that this refill or flush served
  int32_t stack_id = 0;              // 0: none
  const CallSplit* split = nullptr;  // where its time went; nullptr: not known
  int64_t gpu_file_id = 0;           // of the call of libcufile that made it; 0: none
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
  double weight = 1;         // blocks that it stands for, with --alloc-sample
  uint64_t site = 0;         // return address
  int64_t site_library = 0;  // name_id of the library that holds it; 0: not known
  int64_t site_offset = 0;   // file offset within it
  int32_t stack_id = 0;      // 0: none
};

// Change of one size class of one thread between two looks.
struct AllocSmallRow {
  Origin origin;
  int64_t class_bytes = 0;
  int64_t mallocs = 0, frees = 0;
  int64_t bytes = 0;  // net; exact in coarse classes, count x class size in fine ones
};

struct ProcessRow {
  int32_t proc_id = 0;
  int32_t pid = 0, ns_pid = 0, ppid = 0;
  int32_t parent_proc_id = 0;  // 0: not known
  int64_t pid_namespace = 0;
  int64_t start_ticks = 0;
  int64_t first_ns = 0, last_ns = 0;
  int64_t uid = -1;
  int32_t rank = -1, local_rank = -1, world_size = -1;
  uint32_t launcher = 0;  // enum mlrun_launcher: whose rank it is; no column
  std::string cgroup;
  std::string command;       // arguments of the last image, separated by blanks
  std::string role;          // main, loader worker, rank, child, ... (summary/roles.h)
  bool forked = false;       // began by fork without exec
  bool ended = false;        // its end was seen; known of processes that are observed
  std::string end;           // exit, no exit, running; empty: not known (TABLES.md)
  int64_t exit_status = -1;  // wait status; only known of the command itself
  int64_t kernel_rchar = -1, kernel_wchar = -1, kernel_syscr = -1, kernel_syscw = -1;  // /proc/PID/io at its end
  int64_t kernel_read_bytes = -1, kernel_write_bytes = -1;                             // of devices; in no table
  int64_t kernel_io_ns = -1;     // when the kernel was asked; in no table
  bool kernel_io_final = false;  // its last image asked at its end; in no table
};

struct ImageRow {
  int32_t image_id = 0;
  int32_t proc_id = 0;
  int64_t start_ns = 0;
  std::string exe, arguments, cwd, allocator;
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
  std::string raw_path;      // as passed, likewise
  std::string path_bytes;    // the path's own bytes where `path` has escapes; else empty
  int64_t dev = 0, ino = 0;  // kernel's 32-bit device number; 0, 0: never opened
  std::string file_system;   // type, e.g. ext4
  std::string mount;         // mount point
  std::string kind;
};

struct MarkRow {
  Origin origin;
  int64_t mark_id = 0;
  int64_t dur_ns = -1;
  std::string domain;   // mllog, nvtx, nvtx:NAME, api
  int64_t name_id = 0;  // 0: not given yet, or no room for the name
  std::string name;
  std::string value;     // JSON text
  std::string scope;     // thread, process, run
  bool is_open = false;  // nobody ended it
  int64_t error_ns = 0;  // bound of the conversion to the trace's clock
};

struct PhaseRow {
  int32_t phase_id = 0;
  std::string name;  // "epoch 1", "eval 1", ...
  int64_t ts_ns = 0, dur_ns = 0, error_ns = 0;
  int32_t proc_id = 0;
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, io_ns = 0;

  [[nodiscard]] int64_t end_ns() const { return ts_ns + dur_ns; }
};

// A GPU, or an instance of one that is divided.
struct GpuRow {
  int32_t gpu_id = 0;
  std::string kind;  // gpu, mig
  std::string name, uuid, pci, driver;
  int32_t index = -1;     // NVML's
  int32_t parent_id = 0;  // 0: it is no instance
  int32_t gpu_instance = -1, compute_instance = -1;
  int64_t memory_bytes = -1;
};

struct LossRow {
  std::string channel;  // interposer, spool, clock, ...
  std::string reason;
  int32_t proc_id = 0, thread_id = 0;
  int64_t first_ns = 0, last_ns = 0;
  int64_t count = 0;
  std::string unit;  // records, bytes, processes, calls
  int32_t cpu = -1;  // the processor that it was lost on; -1: not one alone
  std::string kind;  // of records that were dropped: what they would have told; empty: not known, or no such records
};

// Calls that are in no row because the user asked for less: counted, with what they moved.
struct LeftOutRow {
  int32_t proc_id = 0;
  std::string reason;  // path rules
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, time_ns = 0;
};

// Short calls of one process on one file by one function, together (--fold).
struct FoldedRow {
  int32_t proc_id = 0;
  int64_t file_id = 0;  // 0: no file
  std::string func;
  int64_t calls = 0, bytes = 0, time_ns = 0;
  int64_t first_ns = 0, last_ns = 0;  // begin of the first, end of the last
};

// Calls, or allocations, that are alike, together (--summary-only).
struct SumBucket {
  int64_t low = 0, high = 0;  // low <= value < high
  int64_t calls = 0, bytes = 0;
};
struct SumRow {
  int64_t sum_id = 0;
  CallRow call;     // stands for all of them; of an allocation only origin and stack_id
  uint16_t op = 0;  // enum mlrun_kind; 0: a call
  std::string func;
  int64_t site_library = 0, site_offset = 0;  // of allocations, as in AllocRow
  int32_t stretch = -1;                       // -1: of several
  int32_t phase_id = 0;                       // the shortest one that the stretch lies in; 0: none, or several
  bool of_several_files = false, of_several_sites = false;
  int64_t calls = 0, served_calls = 0, bytes = 0, time_ns = 0;
  int64_t min_ns = 0, max_ns = 0, first_ns = 0, last_ns = 0;
  std::vector<SumBucket> times, sizes;
};
// One bucket of one sum, as the table has it.
struct SumBucketRow {
  int64_t sum_id = 0;
  std::string measure;  // duration, size
  SumBucket bucket;
};

// A run is not all seen if bytes or memory may have moved unseen; what is only worth knowing is a remark.
inline constexpr const char* kUnseen = "unseen";
inline constexpr const char* kRemark = "remark";

struct CoverageRow {
  int32_t proc_id = 0;  // 0: the run
  std::string subject;  // what was not, or not wholly, seen
  std::string detail;
  int64_t seen = -1, kernel = -1;  // e.g. bytes by the interposer and by /proc/PID/io; -1: not known
  std::string level = kUnseen;     // or kRemark

  [[nodiscard]] bool is_remark() const { return level == kRemark; }
};

}  // namespace mlrun::model
