// SPDX-License-Identifier: Apache-2.0
// The parts of the event tables that a merge has written, so that one that was interrupted goes on: what depends on the
// order of the rows is done again, but no part is encoded and written twice.
//
// TRACE/merging/parts.jsonl tells of them, a line each: the first what they are made of (the raw files by size and time
// of change, the program, the rows of a part), the others the files of a part with their sizes and checksums. Whatever
// is not exactly what it tells, after a crash of the machine for instance, is made anew.
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

// The file of part `number` of a table, below the folder of tables.
std::string part_path(const std::string& tables_folder, const std::string& table, size_t number);

class KeptParts {
 public:
  // One line of text about what the parts depend on: the raw files of the trace, `others`, and this program. To be asked
  // before they are read. A file that is not there counts as such. Nothing where that cannot be told.
  static std::string made_of(const std::string& trace_folder, const std::vector<std::string>& others,
                             uint64_t rows_per_part);
  // The same with what `info` has before the first row: ids of files depend on links and mounts as they are now.
  static std::string made_of(const std::string& files, const model::TraceInfo& info);

  // `tables`: of events, which have parts.
  KeptParts(std::string staging_folder, std::vector<std::string> tables)
      : folder_(std::move(staging_folder)), tables_(std::move(tables)) {}

  // Finds what an earlier merge of the same left whole, and removes everything else from the staging folder, which need
  // not be there. Then the folder is there, with one for each table. `made_of` empty: nothing is taken up, nor told of.
  // Requires: no other merge is at work in it.
  Status open(const std::string& made_of);

  [[nodiscard]] bool has(size_t part) const { return kept_.contains(part); }
  [[nodiscard]] size_t count() const { return kept_.size(); }

  // All files of a part stand under their names. Safe from several threads. A part that cannot be told of is made anew
  // by the next merge.
  void add(size_t part);

 private:
  [[nodiscard]] std::string journal() const { return folder_ + "/parts.jsonl"; }
  [[nodiscard]] std::string tables_folder() const { return folder_ + "/tables"; }
  [[nodiscard]] std::string describe(size_t part) const;
  [[nodiscard]] std::string find_whole(const std::string& made_of);
  [[nodiscard]] bool is_ours() const;
  Status remove_others() const;

  std::string folder_;
  std::vector<std::string> tables_;
  std::set<size_t> kept_;
  std::mutex mutex_;  // of the stream
  std::ofstream told_;
};

}  // namespace mlrun::trace
