// SPDX-License-Identifier: Apache-2.0
// When the lines of a log were written, as recorded. A line's time stamp is cut to a millisecond; the call that wrote it
// says more: the program took the stamp before it, and what the thread did next came after it.
//
//   the log     ...|line 7      |line 8       |line 9    |   Which call wrote a line follows from where the line stands,
//   the calls   ...|write 254   |write 130 + write 124   |   counted from the end of the file: lines of an earlier run
//                                             ^ line 9's     stand at its beginning, and no call of this run wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/model/file_table.h"
#include "runner/model/rows.h"

namespace mlrun::trace {

class LogWrites {
 public:
  // Paths of the logs as they are now, and the files of the trace, of which some may be these.
  LogWrites(const std::vector<std::string>& paths, const model::FileTable& files);

  void add(const model::CallRow& row) {
    if (any_ && static_cast<size_t>(row.file_id) < log_of_.size() && log_of_[static_cast<size_t>(row.file_id)] >= 0) {
      add_write(row);
    }
  }
  // A write to a log, by the log's place in the paths.
  void add(size_t log, int64_t start_ns, int64_t bytes, int32_t proc_id = 0);

  // Requires: all were added.
  void finish();

  // When the write began that wrote the byte that is so far from the end of the file (1: the last one). Nothing: none
  // that is known.
  [[nodiscard]] std::optional<int64_t> start_of(size_t log, int64_t from_end) const;
  // Which process did; 0: it is not known.
  [[nodiscard]] int32_t process_of(size_t log, int64_t from_end) const;

 private:
  struct Write {
    int64_t start_ns = 0, bytes = 0;
    int64_t from_end = 0;  // of its first byte
    int32_t proc_id = 0;
  };
  [[nodiscard]] const Write* find(size_t log, int64_t from_end) const;
  void add_write(const model::CallRow& row);

  std::vector<int32_t> log_of_;  // by file_id; -1: none
  bool any_ = false;
  std::vector<std::vector<Write>> writes_;  // by log; after finish() the last one is first
};

}  // namespace mlrun::trace
