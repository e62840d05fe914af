// SPDX-License-Identifier: Apache-2.0
// What happened and was not seen, or not wholly: the rows of the table `coverage`. Clean runs have none.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/session_info.h"
#include "runner/trace/spool_index.h"

namespace mlrun::trace {

class CoverageMeter {
 public:
  // Call it for every call row, one thread at a time.
  void add(const model::CallRow& row);
  void add(const model::SumRow& sum);

  // Requires: all rows were added; info.processes and info.left_out are complete.
  std::vector<model::CoverageRow> finish(SpoolIndex& index, const SessionInfo& session, const model::TraceInfo& info);

 private:
  struct Bytes {
    int64_t read = 0, written = 0;
  };
  void add_bytes(const model::CallRow& row, int64_t moved);
  void add_mapped(const model::CallRow& row);
  void note_successor(const model::CallRow& row);
  void note_reasons(SpoolIndex& index, const model::TraceInfo& info);
  [[nodiscard]] std::string why_unseen(int32_t proc_id) const;
  void add_mapped_files(const model::TraceInfo& info);
  [[nodiscard]] Bytes bytes_of(int32_t proc_id) const;  // as recorded
  void compare_bytes(const model::TraceInfo& info);
  void add_executed(const model::TraceInfo& info);
  void add_shells();
  void add_silent_successors(const model::TraceInfo& info);
  void add_cut_off(SpoolIndex& index);
  void add_children();
  void add_cufile(const model::TraceInfo& info);
  void add_rings(const SpoolIndex& index, const model::TraceInfo& info);
  void add_failures(const SessionInfo& session);
  void add_row(int32_t proc_id, std::string subject, std::string detail, int64_t seen, int64_t kernel);

  using Execution = std::tuple<int32_t, int64_t, int32_t>;  // process, file and verdict

  // The last time that a process became another program, or tried to: an attempt that fails has two rows with one `ts`.
  struct Successor {
    int64_t begun_ns = -1, failed_ns = -1, file_id = 0;
  };

  std::vector<Bytes> bytes_;                 // by proc_id
  std::map<int32_t, int64_t> shells_;        // of system and popen that cannot be followed, by proc_id
  std::map<int32_t, Successor> successors_;  // by image_id of the one before
  std::map<Execution, int64_t> executed_;    // times
  int64_t executed_left_out_ = 0;            // executions of further ones
  std::map<int64_t, int64_t> mapped_;        // file_id: bytes of its longest mapping
  int64_t mapped_left_out_ = 0;              // mappings of further files
  std::map<int32_t, int64_t> silent_;        // children that recorded nothing, by parent
  std::set<int32_t> with_unended_children_;  // parents of processes whose totals nobody knows
  std::set<int32_t> with_executed_;          // processes that executed what cannot be followed
  bool was_paused_ = false, was_stopped_ = false;
  std::vector<model::CoverageRow> rows_;
};

}  // namespace mlrun::trace
