// SPDX-License-Identifier: Apache-2.0
// One export: what a format reads and where it writes. When a format gets it, --from and --until are converted to times, and --process
// to ids.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "runner/exchange/account.h"
#include "runner/exchange/scratch_folder.h"
#include "runner/model/run.h"
#include "runner/util/result.h"
#include "runner/view/id_names.h"

namespace mlrun::trace {
class Progress;
}

namespace mlrun::exchange {

struct ExportOptions {
  std::string trace_folder = {};
  std::string output = {};
  std::string from = {}, until = {};        // times since the start of the command; empty: none
  std::vector<std::string> processes = {};  // pids, as in the tables; empty: all
  uint64_t split_bytes = 0;                 // begin a new file after this many; 0: the format's default
  bool shows_progress = true;
};

// A machine of a merged trace.
struct ExportNode {
  int64_t id = 0;         // 0: the trace is not merged; this is its only machine
  std::string name = {};  // unique
};

class Export {
 public:
  // Opens the trace. Fails if the output exists, cannot be made or is inside of the trace, or the options do not fit the trace.
  static Result<std::unique_ptr<Export>> open(ExportOptions options);
  ~Export();
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  [[nodiscard]] const std::string& trace_folder() const { return options_.trace_folder; }
  // The path to write to, in a scratch folder. commit() renames it to asked_output(); without commit() it is removed.
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] const std::string& asked_output() const { return options_.output; }
  // `error` with asked_output() in place of output() in its text.
  [[nodiscard]] Error with_asked_name(Error error) const;
  [[nodiscard]] uint64_t split_bytes() const { return options_.split_bytes; }
  [[nodiscard]] const model::Run& run() const { return run_; }
  // The machines of the trace, at least one.
  [[nodiscard]] const std::vector<ExportNode>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_merged() const { return nodes_.front().id != 0; }

  // Times of CLOCK_MONOTONIC. Rows with ts < until_ns() that end at from_ns() or later are exported, without being cut.
  [[nodiscard]] int64_t from_ns() const { return from_ns_; }
  [[nodiscard]] int64_t until_ns() const { return until_ns_; }
  [[nodiscard]] bool has_range() const { return !options_.from.empty() || !options_.until.empty(); }
  [[nodiscard]] bool wants_time(int64_t ts, int64_t end) const { return ts < until_ns_ && end >= from_ns_; }
  // When the command began, CLOCK_MONOTONIC; 0 if unknown. UTC = time + realtime_offset_ns().
  [[nodiscard]] int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] int64_t realtime_offset_ns() const { return realtime_offset_ns_; }
  // False: nothing is known about UTC, and the offset is 0.
  [[nodiscard]] bool knows_utc() const { return knows_utc_; }
  // A time before which no row of these tables begins; start_ns() if that is earlier, or the tables have no rows.
  Result<int64_t> earliest(const std::vector<std::string>& tables);
  // Whether rows of this process are exported. Rows without a process (of a whole machine) are exported only without --process.
  [[nodiscard]] bool wants_process(int64_t proc_id) const { return proc_ids_.empty() || proc_ids_.contains(proc_id); }
  [[nodiscard]] bool has_processes() const { return !proc_ids_.empty(); }

  // Names of ids: names("file_id") gives the path of each. Loaded once.
  Result<std::shared_ptr<const view::IdNames>> names(const std::string& id_column);
  // Whether the trace has this table with files; a sweep deletes some, and older traces lack some.
  [[nodiscard]] bool has_table(const std::string& table) const;
  // Whether a node of a merged trace has rows in this table.
  [[nodiscard]] bool has_rows_of(const std::string& table, int64_t node_id) const;

  [[nodiscard]] Account& account() { return account_; }
  [[nodiscard]] trace::Progress& progress() { return *progress_; }

  // Renames the output. Requires: it is complete.
  Status commit();

 private:
  explicit Export(ExportOptions options);
  Status check_output() const;
  Status read_nodes();
  Status read_times();
  Status read_processes();

  ExportOptions options_;
  std::unique_ptr<ScratchFolder> scratch_;
  std::string output_;
  model::Run run_;
  int64_t from_ns_ = std::numeric_limits<int64_t>::min(), until_ns_ = std::numeric_limits<int64_t>::max();
  int64_t start_ns_ = 0, realtime_offset_ns_ = 0;
  bool knows_utc_ = false;
  std::vector<ExportNode> nodes_;
  std::unordered_set<int64_t> proc_ids_;
  view::IdNameTables names_;
  Account account_;
  std::unique_ptr<trace::Progress> progress_;
};

}  // namespace mlrun::exchange
