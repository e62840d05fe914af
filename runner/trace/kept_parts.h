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

#include "runner/util/result.h"

namespace mlrun::trace {

// The file of part `number` of a table, below the folder of tables.
std::string part_path(const std::string& tables_folder, const std::string& table, size_t number);

class KeptParts {
 public:
  // One line of text about what the parts depend on: the same files and the same program make the same parts of so many
  // rows. A file that is not there counts as such.
  static std::string made_of(const std::vector<std::string>& files, uint64_t rows_per_part);

  // `tables`: of events, which have parts.
  KeptParts(std::string staging_folder, std::vector<std::string> tables)
      : folder_(std::move(staging_folder)), tables_(std::move(tables)) {}

  // Finds what an earlier merge of the same left whole, and removes everything else from the staging folder, which need
  // not be there. Then the folder is there, with one for each table. Requires: no other merge is at work in it.
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
  void remove_others() const;

  std::string folder_;
  std::vector<std::string> tables_;
  std::set<size_t> kept_;
  std::mutex mutex_;  // of the stream
  std::ofstream told_;
};

}  // namespace mlrun::trace
