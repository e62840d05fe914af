// SPDX-License-Identifier: Apache-2.0
// The rows of a merged trace, as the merger makes them and the summary and the table writers take them. Times are
// nanoseconds of CLOCK_MONOTONIC; ids are those of the tables of the same name. What each column means to a reader:
// runner/trace/TABLES.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
enum class FileKind : uint8_t { kUnknown, kRegular, kDirectory, kCharacter, kBlock, kFifo, kSocket, kLink, kAnonymous };

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
  int64_t offset = -1;
  OffsetSource offset_source = OffsetSource::kNone;
  int64_t requested = -1;    // bytes asked for; -1: the call has no such argument
  int64_t ret = 0;           // as the function returned it (-1 on error)
  int32_t err = 0;           // errno, 0: none
  int32_t flags = 0;         // open: O_ flags; mmap: MAP_ flags; fcntl: command; else 0
  int64_t arg2 = 0;          // what else the call was given: hooks.def and TABLES.md say what
  int64_t file2_id = 0;      // rename: the new name; 0: none
  int32_t served_calls = 1;  // stdio: library calls that this refill or flush served
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
  uint64_t site = 0;         // return address
  int64_t site_library = 0;  // name_id of the library that holds it; 0: not known
  int64_t site_offset = 0;   // file offset within it
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
  std::string cgroup;
  std::string command;       // arguments of the last image, separated by blanks
  std::string role;          // main, loader worker, rank, child, ... (summary/roles.h)
  bool forked = false;       // began by fork without exec
  int64_t exit_status = -1;  // wait status; only known of the command itself
  int64_t kernel_rchar = -1, kernel_wchar = -1, kernel_syscr = -1, kernel_syscw = -1;  // /proc/PID/io at its end
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

// kind: regular, directory, character, block, fifo, socket, link, anonymous (pipe:, eventfd, memfd, ...), unknown
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
  int64_t dur_ns = -1;
  std::string domain;  // mllog
  std::string name;
  std::string value;     // JSON text
  std::string scope;     // process, run
  int64_t error_ns = 0;  // bound of the conversion to the trace's clock
};

struct PhaseRow {
  int32_t phase_id = 0;
  std::string name;  // "epoch 1", "eval 1", ...
  int64_t start_ns = 0, end_ns = 0, error_ns = 0;
  int32_t proc_id = 0;
  int64_t calls = 0, bytes_read = 0, bytes_written = 0, io_ns = 0;
};

struct LossRow {
  std::string channel;  // interposer, spool, clock, ...
  std::string reason;
  int32_t proc_id = 0, thread_id = 0;
  int64_t first_ns = 0, last_ns = 0;
  int64_t count = 0;
  std::string unit;  // records, bytes, processes, calls
};

struct CoverageRow {
  int32_t proc_id = 0;  // 0: the run
  std::string subject;  // what was not, or not wholly, seen
  std::string detail;
  int64_t seen = -1, kernel = -1;  // e.g. bytes by the interposer and by /proc/PID/io; -1: not known
};

}  // namespace mlrun::model
