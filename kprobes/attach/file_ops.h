// SPDX-License-Identifier: Apache-2.0
// The probes of the kernel's operations on files. Each operation takes the first way that works: fentry, else kprobe, else
// it is not recorded; of opening, else by a function that sees a part of it. A way works when it can be attached and, where the operation can be tried, when a try is seen.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/function_probe.h"
#include "kprobes/attach/function_types.h"

namespace mlrun::probes {

class FileOps {
 public:
  struct Function {
    FileFunction what;
    std::string way;     // fentry, kprobe; empty: not attached
    std::string reason;  // why not; of one by kprobe, why not by fentry
    std::optional<FunctionProbe> probe;
    std::optional<FunctionTypes::Place> place;
    std::string file_system;  // that has it, of one that was not there at first
    uint64_t since_ns = 0;    // attached; 0: in time
  };
  using Seen = std::array<int, MLRUN_FILE_PURPOSES>;  // records by operation

  // The functions of these file systems. `try_all` does every operation once and tells what was recorded of it; it fails
  // where that cannot be done. Requires: `types` and the programs outlive this object.
  void attach(const FileOpPrograms& programs, FunctionTypes& types, const FileSystemTypes& mounted,
              const std::function<Result<Seen>()>& try_all);

  // Those of file systems among these that were not mounted before wait to be attached; one at a time, as each takes its
  // time. attach_next gives that one; nullptr: none waited. `is_late`: files of it may have been used meanwhile.
  void add(const FileSystemTypes& mounted);
  const Function* attach_next(bool is_late);

  // Those that this kernel has.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  void attach_by_fentry(Function& function) const;
  void attach_all_by_fentry();
  void attach_by_kprobe(Function& function) const;
  void doubt(const Seen& seen, const std::function<void(Function&)>& then);
  void settle(const std::function<Result<Seen>()>& try_all);
  void settle_stand_in(Function& function, const std::function<Result<Seen>()>& try_all) const;
  void add_stand_ins(std::vector<Function> stand_ins, const std::function<Result<Seen>()>& try_all);

  FileOpPrograms programs_;
  FunctionTypes* types_ = nullptr;
  FileSystemTypes known_;
  std::vector<Function> functions_;
  std::deque<Function> waiting_;
};

// Memory, on which operations are tried, has no pages to wait for, no blocks to share and nothing that is over later.
bool is_tried(uint32_t op);

}  // namespace mlrun::probes
