// SPDX-License-Identifier: Apache-2.0
// The summary of one trace, as stored in the summary_* tables and shown as text and JSON. Times are nanoseconds
// of CLOCK_MONOTONIC, sizes bytes. How each figure is defined: SUMMARY_JSON.md.
//
// Calls fall into four groups. `files`: on regular files, directories, block devices and names. `channels`: on pipes,
// sockets, terminals and other character devices, eventfds and the like, where time is mostly waiting for the other
// end. `other`: what touches no file (fork, exec, anonymous mappings). `waits`: for other threads, processes,
// descriptors or a moment (poll, semaphores, sleep), of 20 us or more. "I/O" alone means the first group.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/run.h"
#include "runner/summary/answer.h"
#include "runner/summary/gpu_idle.h"
#include "runner/summary/gpu_work.h"
#include "runner/util/log_histogram.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

inline constexpr int kSchemaVersion = 3;

enum class Group : uint8_t { kFiles, kChannels, kOther, kWaits };
inline constexpr size_t kGroups = 4;

enum class Direction : uint8_t { kRead, kWrite };

// Sums over calls of one group.
struct Totals {
  int64_t calls = 0;
  int64_t errors = 0;
  int64_t read_calls = 0, write_calls = 0, metadata_calls = 0;
  int64_t bytes_read = 0, bytes_written = 0;
  int64_t time_ns = 0;  // durations added up, over all threads

  void add(const Totals& other);
  [[nodiscard]] int64_t bytes() const { return util::sum_of(bytes_read, bytes_written); }
};

// Page cache misses of reads and page faults of a file: pages of 4 KiB that the kernel added for them, in bytes. -1:
// unknown, as without the kernel side.
struct CacheMisses {
  int64_t missing_bytes = -1;  // in the requested range
  int64_t ahead_bytes = -1;    // beyond it: read ahead, for later reads

  [[nodiscard]] bool known() const { return missing_bytes >= 0 && ahead_bytes >= 0; }
  [[nodiscard]] int64_t bytes() const { return util::sum_of(missing_bytes, ahead_bytes); }
  // Requires: both are known.
  void add(const CacheMisses& other) {
    util::add_to(missing_bytes, other.missing_bytes);
    util::add_to(ahead_bytes, other.ahead_bytes);
  }
};

// Live heap blocks of one process image. `recorded`: blocks with a row in `alloc`, exact. `counted`: blocks below
// alloc-min, known at the collector's checks. A forked child starts at zero.
struct HeapPeak {
  int64_t ts_ns = 0;
  int64_t recorded_bytes = 0;
  int64_t counted_bytes = 0;
  [[nodiscard]] int64_t bytes() const { return util::sum_of(recorded_bytes, counted_bytes); }
};

// Peak of private anonymous memory that one process image mapped by its own calls and could read or write. Separately
// the peak of MAP_NORESERVE mappings. -1: unknown, as without rows of calls.
struct MappingPeak {
  int64_t ts_ns = 0;
  int64_t bytes = -1;
  int64_t noreserve_bytes = -1;
  int32_t image_id = 0;  // the image with the highest peak
  std::string exe;       // executable of that image
};

struct HeapLibrary {
  int64_t library = 0;  // name_id; 0: unknown
  std::string name;
  int64_t live_bytes = 0;  // at the peak
};

// Waits in one function in one process, of all its threads.
struct WaitSummary {
  uint16_t func = 0;
  std::string name;
  int64_t calls = 0, time_ns = 0;
};

// The heap of one image, as --summary-only stores it.
struct HeapSum {
  HeapPeak peak;
  int64_t recorded_allocations = 0, counted_allocations = 0;
  int64_t blocks_left_out = 0, bytes_left_out = 0;  // over all images so far
  std::vector<HeapLibrary> libraries;
};

struct ProcessSummary {
  int32_t proc_id = 0, parent_proc_id = 0, pid = 0, rank = -1;
  std::string role, command;
  std::string end;  // as in model::ProcessRow
  int64_t first_ns = 0, last_ns = 0;
  std::array<Totals, kGroups> totals;
  int64_t recorded_allocations = 0, counted_allocations = 0;
  HeapPeak heap_peak;
  MappingPeak mapped_peak;
  std::vector<WaitSummary> waits;           // by time
  std::vector<HeapLibrary> heap_libraries;  // recorded bytes at the peak, largest first

  [[nodiscard]] const Totals& files() const { return totals[size_t(Group::kFiles)]; }
};

struct FileSummary {
  int64_t file_id = 0;  // 0: the files without a place of their own
  std::string path, file_system, mount, kind;
  Totals totals;
  CacheMisses misses;
};

struct DirectorySummary {
  std::string path, file_system, mount;
  int64_t files = 0;
  Totals totals;
  CacheMisses misses;
};

struct FuncSummary {
  uint16_t func = 0;
  std::string name, call_class;
  Group group = Group::kFiles;
  int64_t calls = 0, errors = 0, bytes = 0, time_ns = 0;
  util::LogHistogram latency;
};

struct ErrorSummary {
  uint16_t func = 0;
  std::string name;
  int32_t err = 0;
  int64_t calls = 0;
};

// Requested bytes of read and write calls on files: sizes in [low_bytes, 2 * low_bytes), the first bucket is 0 alone.
struct SizeBucket {
  Direction direction = Direction::kRead;
  int64_t low_bytes = 0;
  int64_t calls = 0, bytes = 0;  // bytes: those that the calls moved

  // The last bucket is open-ended.
  [[nodiscard]] int64_t high_bytes() const {
    if (low_bytes <= 0) return 1;
    return low_bytes > INT64_MAX / 2 ? INT64_MAX : low_bytes * 2;
  }
};

// Offsets of transfers of one direction, relative to the end of the previous one of the same open file description.
struct FileAccessPattern {
  struct Count {
    int64_t calls = 0, bytes = 0;
  };
  Count sequential;  // at the end of the previous one; the first one: at offset 0, or anywhere with O_APPEND
  Count forward;     // beyond it
  Count backward;    // before it
  Count unknown;     // no offset

  [[nodiscard]] int64_t known_bytes() const {
    return util::sum_of(util::sum_of(sequential.bytes, forward.bytes), backward.bytes);
  }
};

// Repeated reads.
struct Reread {
  int64_t bytes_read = 0;          // of the files and reads that are tracked
  int64_t distinct_bytes = 0;      // bytes of these files that were read at least once
  int64_t page_counted_files = 0;  // scattered reads: counted in touched 4 KiB pages instead of bytes
  // Bytes of reads that are not tracked: at unknown offsets, of files without a place, or when the memory for tracking was used up.
  int64_t bytes_left_out = 0;
};

// A function that allocates or calls file functions, from the stacks (--stacks).
enum class SiteKind : uint8_t { kAllocations, kFiles };
struct SiteSummary {
  SiteKind kind = SiteKind::kAllocations;
  std::string function, library;
  int64_t calls = 0, bytes = 0, time_ns = 0;  // bytes requested, or moved
};

// Kind of a split: a call on files, or an operation of the kernel outside of calls.
enum class SplitKind : uint8_t { kCalls, kFaults, kAsynchronous, kOperations };
inline constexpr size_t kSplitKinds = 4;

// Split of the time of calls on files, and of the kernel's operations on files outside of calls, as seen by the kernel
// side.
struct SplitSummary {
  std::string scope;               // run, kind, process, phase, file
  int64_t id = 0;                  // SplitKind + 1, proc_id, phase_id or file_id, by scope
  std::string name;                // name of the kind, role, name of the phase, or path, by scope
  int64_t calls = 0, time_ns = 0;  // including operations outside of calls
  model::CallSplit split;          // adds up to time_ns
};

struct TimeBin {
  int64_t bytes_read = 0, bytes_written = 0, time_ns = 0;
};

// A GPU, from its samples. -1: unknown. Means are over time; shares in parts per million.
struct GpuSummary {
  int32_t gpu_id = 0;
  std::string kind, name, uuid;
  int32_t index = -1;
  int64_t memory_bytes = -1;
  int64_t samples = 0, observed_ns = 0;
  int64_t busy_ppm = -1, memory_busy_ppm = -1;  // time in which a kernel ran, in which memory was used
  int64_t sm_active_ppm = -1, tensor_ppm = -1, dram_ppm = -1;
  int64_t fb_peak_bytes = -1;
  int64_t power_mean_mw = -1, power_peak_mw = -1, energy_mj = -1;
  int64_t temperature_peak_c = -1;
  int64_t throttled_ns = -1;  // clocks lowered by a limit of power or temperature
  int64_t pcie_rx_bytes = -1, pcie_tx_bytes = -1, nvlink_rx_bytes = -1, nvlink_tx_bytes = -1;
};

// What a part of the machine did, from samples of its counters. -1: unknown, or the part has no such counter.
struct MachineUse {
  std::string what;         // cpu (all together), memory, disk, net
  std::string name;         // of the device or interface; "node N"; empty: of the machine
  int64_t observed_ns = 0;  // sampled time; of processors: added up over them
  int64_t processors = -1;  // number of processors that were online at some time
  int64_t busy_ns = -1;     // processors: neither idle nor stolen; a disk: with a request
  int64_t iowait_ns = -1, steal_ns = -1;
  int64_t in_bytes = -1, out_bytes = -1;      // read and written, received and sent
  int64_t peak_bytes = -1, total_bytes = -1;  // of memory: in use (machine: not available; node: not free), and in all
};

// The program's marks of one name and domain. Times are -1 for points.
struct MarkSummary {
  std::string domain, name;
  int64_t count = 0, time_ns = -1, max_ns = -1;
};

// Collectives of one communicator and operation (NCCL). -1: unknown.
struct CollectiveSummary {
  std::string communicator;  // empty: unknown
  std::string operation;
  int64_t count = 0, bytes = 0, time_ns = 0, max_ns = 0;
  int64_t ranks = -1;
  int64_t compared = 0;  // collectives begun by several processes of the run
  int64_t skew_p50_ns = -1, skew_p99_ns = -1, skew_max_ns = -1;
  int32_t last_proc_id = 0;  // the process that most often began last; 0: none
  int64_t last_times = 0;
};

// Samples of threads at one line of Python, in all processes of one role: the innermost line outside of installed packages, else
// the innermost.
struct PythonSummary {
  std::string role, function, source;   // function and source empty: sum of lines beyond the limit
  int32_t processes = 0, line = 0;      // line 0: the code has no line number there
  int64_t samples = 0, running = 0;     // number of samples; of these, the thread was on a CPU or in the run queue
  int64_t time_ns = 0, running_ns = 0;  // time that these samples represent; 0: unknown, in traces of earlier versions
  int64_t waiting = 0;                  // number of samples in which the thread was asleep
  int32_t is_driver = 0;                // 1: samples of the driver, whose time is divided (Answer)
};

// Files by time. A row is a file, a folder with everything below it that is in no other row, the modules and libraries that programs load (imports),
// or all other files (rest). Every file is in one row.
struct FileTree {
  std::string kind;  // file, folder, imports, rest
  std::string path;  // of the file or folder
  int64_t folders = 0, files = 0;
  int64_t missing = 0;  // paths on which every call failed; not counted in `files`
  Totals totals;
  int64_t end_checks = 0;                          // reads that returned no bytes, as at the end of a file
  int64_t sequential_bytes = 0, random_bytes = 0;  // read, by FileAccessPattern
  int64_t followed_bytes = 0, distinct_bytes = 0;  // bytes of the reads that Reread tracks; different bytes among them

  void add(const FileTree& other);
};

struct Summary {
  model::Run run;
  Answer answer;
  int64_t start_ns = 0;                // of the first time bin
  int64_t calls = 0, allocations = 0;  // rows of `call`, plus folded calls; rows of `alloc`
  int64_t counted_allocations = 0;     // below alloc-min
  int64_t counted_frees = 0;
  // Calls of the program that the rows of `call` represent: one row may serve several stdio calls.
  int64_t served_calls = 0;
  int64_t mark_records = 0;  // records of the program's marks: two per range, one per point
  int64_t alloc_min_bytes = 0;
  int64_t alloc_sample_bytes = 0;  // 0: allocations were not sampled
  int64_t estimated_allocations = 0,
          estimated_bytes = 0;  // estimates from sampled ones, with their weights; requested bytes
  // Part of `calls` that was shorter than fold_ns and has no rows of its own; 0: none.
  int64_t fold_ns = 0, folded_calls = 0;
  int64_t heap_blocks_left_out = 0;  // live blocks beyond the tracking limit, and their bytes
  int64_t heap_bytes_left_out = 0;
  int64_t mapped_bytes_left_out = 0;  // anonymous mappings beyond the tracking limit

  std::vector<ProcessSummary> processes;      // parents before children, in order of start
  std::vector<FileSummary> files;             // the first kTopFiles by bytes and the first kTopFiles by time; by bytes
  int64_t files_touched = 0;                  // all of them
  int64_t files_without_place = 0;            // files beyond the limit: summed up under file_id 0
  std::vector<DirectorySummary> directories;  // as for files
  int64_t directories_touched = 0;
  std::vector<FileTree> trees;       // by time, imports and the rest last
  std::vector<FuncSummary> funcs;    // by time
  std::vector<ErrorSummary> errors;  // by calls
  std::vector<SiteSummary> sites;    // allocating ones by bytes, then calling ones by time; none without stacks
  std::vector<SizeBucket> sizes;
  std::array<FileAccessPattern, 2> file_access;  // by Direction
  Reread reread;
  int64_t bin_ns = 0;
  std::vector<TimeBin> timeline;
  std::vector<SplitSummary> splits;            // the run, kinds, processes, phases, files; none without the kernel side
  std::vector<model::PhaseRow> phases;         // with their figures, in order of start
  std::vector<MarkSummary> marks;              // the first kTopMarks by time
  std::vector<CollectiveSummary> collectives;  // the first kTopCollectives by time
  std::vector<GpuSummary> gpus;                // instances behind their GPU
  std::vector<MachineUse> machine;             // processors, memory, disks, interfaces
  std::vector<GpuWorkSummary> gpu_work;        // devices with work
  std::vector<GpuKernelSummary> gpu_kernels;   // the first kTopKernels by time
  GpuCallSummary gpu_calls;
  std::vector<GpuMarkSummary> gpu_marks;  // the first kTopMarks by busy_ns
  std::vector<GpuMemorySummary> gpu_memory;
  std::vector<GpuStackSummary> gpu_stacks;  // the first kTopGpuStacks by bytes
  std::vector<GpuHostSummary> gpu_hosts;    // the first kTopGpuHosts by misplaced bytes
  std::vector<GpuFileSummary> gpu_files;
  std::vector<TorchMemorySummary> torch_memory;
  std::vector<GpuIdleSummary> gpu_idle;  // the first kTopIdle by time
  std::vector<PythonSummary> python;     // the first kTopPython by running time
  std::vector<model::LossRow> losses;
  std::vector<model::CoverageRow> coverage;
  std::vector<model::LeftOutRow> left_out;  // what the user chose not to record: no loss

  [[nodiscard]] Totals totals(Group group) const;
  // Whether nothing was unseen, and nothing was lost except by the user's choice (--last).
  [[nodiscard]] bool complete() const;
};

// Events freed by --last.
[[nodiscard]] inline bool is_asked_for(const model::LossRow& loss) { return loss.channel == "last"; }
// mlrun pause.
[[nodiscard]] inline bool is_pause(const model::LossRow& loss) { return loss.reason == "paused"; }
// CUPTI's own overhead is stored among the losses, but nothing was lost.
[[nodiscard]] inline bool is_loss(const model::LossRow& loss) {
  return !is_asked_for(loss) && !is_pause(loss) && loss.unit != "ns";
}

inline constexpr size_t kTopFiles = 1000;
inline constexpr size_t kTopMarks = 1000;
inline constexpr size_t kTopPython = 1000;
inline constexpr size_t kTopCollectives = 1000;
inline constexpr size_t kTopDirectories = 1000;
inline constexpr size_t kTopSites = 1000;  // of each kind

}  // namespace mlrun::summary
