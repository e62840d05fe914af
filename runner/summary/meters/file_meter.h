// SPDX-License-Identifier: Apache-2.0
// Calls by file, and repeated reads. The first kMaxFiles files have a place each (about 190 bytes); later ones are
// summed up under file 0.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "runner/summary/meters/byte_coverage.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/summary/summary.h"
#include "runner/util/chunked_list.h"
#include "runner/util/flat_map.h"

namespace mlrun::summary {

class FileMeter {
 public:
  static constexpr size_t kMaxFiles = size_t{1} << 20, kMaxPairs = size_t{1} << 16;

  struct File {
    int64_t file_id = 0;
    Totals totals;
    CacheMisses misses{0, 0};
    ByteCoverage read;
    int64_t end_checks = 0, sequential_bytes = 0, random_bytes = 0;  // of the file's reads, as in FileTree
  };

  // Adds a call of group files. In all functions, file_id is the file's key (file_names.h).
  void add(int64_t file_id, const model::CallRow& row, const CallFacts& facts);
  // Adds a sum of calls, whose byte ranges are unknown.
  void add(int64_t file_id, const Totals& totals);
  // Adds pages that a read of the file added to the page cache.
  void add(int64_t file_id, const CacheMisses& misses);
  // Notes added calls that were on both files and count fully for each. Beyond kMaxPairs pairs it is not stored, and a
  // folder that contains both counts them twice.
  void add_shared(int64_t file_id, int64_t other_file_id, const Totals& totals);
  // Prefetch steps for add() of the row (builder.h).
  void prefetch_slot(const model::CallRow& row) const;
  void prefetch_file(const model::CallRow& row) const;
  void prefetch_bytes(const model::CallRow& row) const;

  struct Shared {
    int64_t calls = 0, errors = 0, time_ns = 0;
  };
  using Pairs = std::map<std::pair<int64_t, int64_t>, Shared>;
  [[nodiscard]] const Pairs& shared() const { return shared_; }
  [[nodiscard]] const util::ChunkedList<File>& files() const { return files_; }
  [[nodiscard]] bool full() const { return files_.size() == kMaxFiles; }
  // Calls on unknown files, and on files that came when the table was full.
  [[nodiscard]] const Totals& without_place() const { return without_place_; }
  [[nodiscard]] const CacheMisses& misses_without_place() const { return misses_without_place_; }
  [[nodiscard]] Reread reread() const;

 private:
  File* place(int64_t file_id);  // nullptr: file_id is 0, or the table is full
  [[nodiscard]] const File* find(int64_t file_id) const;

  util::FlatMap<File*> places_;
  util::ChunkedList<File> files_;
  Pairs shared_;
  Totals without_place_;
  CacheMisses misses_without_place_{0, 0};
  CoverageBudget budget_;
  int64_t bytes_left_out_ = 0;
};

}  // namespace mlrun::summary
