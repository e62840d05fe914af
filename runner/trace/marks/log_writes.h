// SPDX-License-Identifier: Apache-2.0
// When the lines of a log were written, by the recorded write calls. A line's time stamp is cut to a millisecond. The
// time of its write is more precise: the program took the stamp before the write, and the thread's next work is after it.
//
//   the log     ...|line 7      |line 8       |line 9    |   The call that wrote a line follows from its position,
//   the calls   ...|write 254   |write 130 + write 124   |   counted from the end of the file: lines of an earlier run
//                                             ^ line 9's     are at its beginning, and no call of this run wrote them.
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
  // `paths`: the logs as they are now; `files`: those of the trace, which may include them.
  LogWrites(const std::vector<std::string>& paths, const model::FileTable& files);

  void add(const model::CallRow& row) {
    if (any_ && static_cast<size_t>(row.file_id) < log_of_.size() && log_of_[static_cast<size_t>(row.file_id)] >= 0) {
      add_write(row);
    }
  }
  // Adds a write to a log; `log`: index in the paths.
  void add(size_t log, int64_t start_ns, int64_t bytes, int32_t proc_id = 0);

  // Requires: all writes were added.
  void finish();

  // Start of the write that wrote the byte at this distance from the end of the file (1: the last byte). nullopt:
  // unknown.
  [[nodiscard]] std::optional<int64_t> start_of(size_t log, int64_t from_end) const;
  // The process that wrote that byte; 0: unknown.
  [[nodiscard]] int32_t process_of(size_t log, int64_t from_end) const;

 private:
  struct Write {
    int64_t start_ns = 0, bytes = 0;
    int64_t from_end = 0;  // distance of its first byte
    int32_t proc_id = 0;
  };
  [[nodiscard]] const Write* find(size_t log, int64_t from_end) const;
  void add_write(const model::CallRow& row);

  std::vector<int32_t> log_of_;  // by file_id; -1: none
  bool any_ = false;
  std::vector<std::vector<Write>> writes_;  // by log; after finish() newest first
};

}  // namespace mlrun::trace
