// SPDX-License-Identifier: Apache-2.0
// Table files that an interrupted merge has written, so that the next merge can resume: it reads all rows again, because
// results depend on their order, but encodes and writes no finished slice (its files in all event tables) again.
//
// TRACE/merging/files.jsonl lists them, one JSON line each: first the inputs (the raw files by size and modification
// time, the program, the rows of a slice), then for each slice its files with sizes and checksums. A slice that does not
// match its line exactly, for instance after a crash of the machine, is written again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// The file of slice `number` of a table, below the folder of tables.
std::string table_file_path(const std::string& tables_folder, const std::string& table, size_t number);

class KeptFiles {
 public:
  // One line that identifies the inputs of the slices: the raw files of the trace, `others`, and this program. Call it
  // before these files are read. A missing file is listed without size and time. Empty if the program cannot be read.
  static std::string made_of(const std::string& trace_folder, const std::vector<std::string>& others,
                             uint64_t rows_per_slice);
  // Adds a digest of `info` as it is before the first row, since file ids depend on links and mounts at merge time.
  // `files`: the line from the other function.
  static std::string made_of(const std::string& files, const model::TraceInfo& info);

  // `tables`: the event tables.
  KeptFiles(std::string staging_folder, std::vector<std::string> tables)
      : folder_(std::move(staging_folder)), tables_(std::move(tables)) {}

  // Finds the intact slices of an earlier merge of the same inputs, and removes everything else from the staging folder,
  // which may be missing. Creates the folder and a folder for each table. `made_of` empty: keeps no slices and no journal.
  // Requires: no other merge uses the folder.
  Status open(const std::string& made_of);

  [[nodiscard]] bool has(size_t slice) const { return kept_.contains(slice); }
  [[nodiscard]] size_t count() const { return kept_.size(); }

  // Records a slice whose files all have their final names. Thread-safe. On an error the next merge writes the slice
  // again.
  void add(size_t slice);

 private:
  [[nodiscard]] std::string journal() const { return folder_ + "/files.jsonl"; }
  [[nodiscard]] std::string tables_folder() const { return folder_ + "/tables"; }
  [[nodiscard]] std::string describe(size_t slice) const;
  [[nodiscard]] std::string find_whole(const std::string& made_of);
  [[nodiscard]] bool is_ours() const;
  Status remove_others() const;

  std::string folder_;
  std::vector<std::string> tables_;
  std::set<size_t> kept_;
  std::mutex mutex_;  // guards the stream
  std::ofstream journal_file_;
};

}  // namespace mlrun::trace
