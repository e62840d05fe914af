// SPDX-License-Identifier: Apache-2.0
// Programs that traced processes execute and the library cannot follow: statically linked, setuid, past the shells of
// system and popen; and those that recorded nothing although they were to be followed.
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

  // Processes that executed what cannot be followed.
  [[nodiscard]] std::set<int32_t> parents() const;

  // Whether the program that this child of a process executed, before it recorded anything, has a row here.
  [[nodiscard]] bool names_program_of(int32_t parent, int32_t pid) const {
    return children_.find(child_key(parent, pid)) != nullptr;
  }

  // Requires: all rows were added; info.processes and info.files are complete.
  void add_rows(const model::TraceInfo& info, const WaitedChildren& waited,
                std::vector<model::CoverageRow>& rows) const;

  // Images that ended in a program that recorded nothing. Requires further: the run was recorded to its end.
  void add_silent_successors(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows) const;

 private:
  void note_successor(const model::CallRow& row);
  void add_shells(std::vector<model::CoverageRow>& rows) const;

  struct Times {
    int64_t all = 0;
    std::vector<int32_t> pids;  // of children that vfork or posix_spawn made; 0: the process itself
  };
  using Execution = std::tuple<int32_t, int64_t, int32_t>;  // process, file and verdict

  // The last time that a process became another program, or tried to: an attempt that fails has two rows with one `ts`.
  struct Successor {
    int64_t begun_ns = -1, failed_ns = -1, file_id = 0;
  };

  std::map<int32_t, int64_t> shells_;        // of system and popen that cannot be followed, by proc_id
  std::map<int32_t, Successor> successors_;  // by image_id of the one before
  std::map<Execution, Times> executed_;
  summary::FlatMap<bool> children_;  // by child_key
  int64_t executed_left_out_ = 0;    // executions of further ones
};

}  // namespace mlrun::trace
