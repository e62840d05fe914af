// SPDX-License-Identifier: Apache-2.0
// Coverage rows about programs that traced processes executed and that recorded nothing: programs that the library cannot
// trace (static, setuid, in the shells of system and popen), and programs that it should have traced.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/coverage/waited_children.h"

namespace mlrun::trace {

class ExecutedPrograms {
 public:
  void add(const model::CallRow& row);

  // proc_id of the processes that executed an untraceable program.
  [[nodiscard]] std::set<int32_t> parents() const;

  // Whether a row of add_rows() counts the program that this child, which recorded nothing, executed.
  [[nodiscard]] bool names_program_of(int32_t parent, int32_t pid) const {
    return children_.find(child_key(parent, pid)) != nullptr;
  }

  // Requires: all rows were added; info.processes and info.files are complete.
  void add_rows(const model::TraceInfo& info, const WaitedChildren& waited,
                std::vector<model::CoverageRow>& rows) const;

  // Adds rows for programs that a process executed by exec and that recorded nothing. Requires: as for add_rows(), and
  // the run was recorded to its end.
  void add_unseen_successors(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows) const;

 private:
  void note_successor(const model::CallRow& row);
  void add_shells(std::vector<model::CoverageRow>& rows) const;

  struct Times {
    int64_t all = 0;
    std::vector<int32_t> pids;  // of children created by vfork or posix_spawn; 0: the process itself
  };
  using Execution = std::tuple<int32_t, int64_t, int32_t>;  // proc_id, file_id, enum mlrun_exec_target

  // The last exec of an image. A failed exec has two rows with the same `ts`, so that begun_ns is not after failed_ns.
  struct Successor {
    int64_t begun_ns = -1, failed_ns = -1, file_id = 0;
  };

  std::map<int32_t, int64_t> shells_;        // untraceable shells of system and popen, by proc_id
  std::map<int32_t, Successor> successors_;  // by image_id of the image that exec replaced
  std::map<Execution, Times> executed_;
  util::FlatMap<bool> children_;   // by child_key
  int64_t executed_left_out_ = 0;  // executions beyond the limit
};

}  // namespace mlrun::trace
