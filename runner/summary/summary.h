// SPDX-License-Identifier: Apache-2.0
// The summary of one trace: what is stored in the summary_* tables and what text and JSON show. Times are nanoseconds
// of CLOCK_MONOTONIC, sizes bytes. How each figure is defined: SUMMARY_JSON.md.
//
// Calls fall into three groups. `files`: on regular files, directories, block devices and names. `channels`: on pipes,
// sockets, terminals and other character devices, eventfds and the like, where time is mostly waiting for the other
// end. `other`: what touches no file (fork, exec, anonymous mappings). "I/O" without further word means the first
// group.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/model/rows.h"
#include "runner/summary/log_histogram.h"

namespace mlrun::summary {

inline constexpr int kSchemaVersion = 1;

enum class Group : uint8_t { kFiles, kChannels, kOther };
inline constexpr size_t kGroups = 3;

enum class Direction : uint8_t { kRead, kWrite };

// Sums over calls of one group.
struct Totals {
  int64_t calls = 0;
  int64_t errors = 0;
  int64_t read_calls = 0, write_calls = 0, metadata_calls = 0;
  int64_t bytes_read = 0, bytes_written = 0;
  int64_t time_ns = 0;  // durations added up, over all threads

  void add(const Totals& other);
  [[nodiscard]] int64_t bytes() const { return bytes_read + bytes_written; }
};

// Live heap blocks of one process image. `recorded`: blocks with a row in `alloc`, exact. `counted`: blocks below
// alloc-min, known at the collector's looks. A forked child starts at zero.
struct HeapPeak {
  int64_t ts_ns = 0;
  int64_t recorded_bytes = 0;
  int64_t counted_bytes = 0;
  [[nodiscard]] int64_t bytes() const { return recorded_bytes + counted_bytes; }
};

struct HeapLibrary {
  int64_t library = 0;  // name_id; 0: not known
  std::string name;
  int64_t live_bytes = 0;  // at the peak
};

struct ProcessSummary {
  int32_t proc_id = 0, parent_proc_id = 0, pid = 0, rank = -1;
  std::string role, command;
  int64_t first_ns = 0, last_ns = 0;
  std::array<Totals, kGroups> totals;
  int64_t recorded_allocations = 0, counted_allocations = 0;
  HeapPeak heap_peak;
  std::vector<HeapLibrary> heap_libraries;  // recorded bytes at the peak, largest first

  [[nodiscard]] const Totals& files() const { return totals[size_t(Group::kFiles)]; }
};

struct FileSummary {
  int64_t file_id = 0;  // 0: the files that had no room for a place of their own
  std::string path, file_system, mount, kind;
  Totals totals;
};

struct DirectorySummary {
  std::string path, file_system, mount;
  int64_t files = 0;
  Totals totals;
};

struct FuncSummary {
  uint16_t func = 0;
  std::string name, call_class;
  Group group = Group::kFiles;
  int64_t calls = 0, errors = 0, bytes = 0, time_ns = 0;
  LogHistogram latency;
};

struct ErrorSummary {
  uint16_t func = 0;
  std::string name;
  int32_t err = 0;
  int64_t calls = 0;
};

// Bytes asked for by read and write calls on files: sizes in [low_bytes, 2 * low_bytes), the first bucket is 0 alone.
struct SizeBucket {
  Direction direction = Direction::kRead;
  int64_t low_bytes = 0;
  int64_t calls = 0, bytes = 0;  // bytes moved
};

// Where transfers of one direction began, against the end of the previous one of the same open file description.
struct AccessPattern {
  struct Count {
    int64_t calls = 0, bytes = 0;
  };
  Count sequential;  // where the previous ended; the first one: at offset 0, or anywhere with O_APPEND
  Count forward;     // beyond it
  Count backward;    // before it
  Count unknown;     // no offset
};

// What was read more than once.
struct Reread {
  int64_t bytes_read = 0;          // of the files and reads that could be followed
  int64_t distinct_bytes = 0;      // bytes of files that these touched at least once
  int64_t page_counted_files = 0;  // so scattered that touched 4 KiB pages were counted instead of bytes
  int64_t bytes_left_out = 0;      // read at unknown offsets, or after the memory for this was used up
};

struct TimeBin {
  int64_t bytes_read = 0, bytes_written = 0, time_ns = 0;
};

struct Summary {
  nlohmann::json run = nlohmann::json::object();  // run.json
  int64_t start_ns = 0;                           // of the first time bin
  int64_t calls = 0, allocations = 0;             // rows of `call` and of `alloc`
  int64_t counted_allocations = 0;                // below alloc-min
  int64_t alloc_min_bytes = 0;
  int64_t heap_blocks_left_out = 0;  // live blocks that were too many to follow, and their bytes
  int64_t heap_bytes_left_out = 0;

  std::vector<ProcessSummary> processes;      // parents before children, in order of start
  std::vector<FileSummary> files;             // the first kTopFiles by bytes and the first kTopFiles by time; by bytes
  int64_t files_touched = 0;                  // all of them
  int64_t files_without_place = 0;            // met when there was no room left: summed up under file_id 0
  std::vector<DirectorySummary> directories;  // likewise
  int64_t directories_touched = 0;
  std::vector<FuncSummary> funcs;    // by time
  std::vector<ErrorSummary> errors;  // by calls
  std::vector<SizeBucket> sizes;
  std::array<AccessPattern, 2> access;  // by Direction
  Reread reread;
  int64_t bin_ns = 0;
  std::vector<TimeBin> timeline;
  std::vector<model::PhaseRow> phases;  // with their figures, in order of start
  std::vector<model::LossRow> losses;
  std::vector<model::CoverageRow> coverage;

  [[nodiscard]] Totals totals(Group group) const;
};

inline constexpr size_t kTopFiles = 1000;
inline constexpr size_t kTopDirectories = 1000;

}  // namespace mlrun::summary
