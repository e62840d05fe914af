// SPDX-License-Identifier: Apache-2.0
// The probes of the kernel's operations on files. Each operation takes the first mechanism that works: fentry, then
// kprobe; opening has a last fallback, a function that sees part of it. Otherwise the operation is not recorded. A
// mechanism works when it attaches and, where the operation can be tried, a trial is recorded.
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
    std::string reason;  // why it is not attached; with kprobe: why not fentry
    std::optional<FunctionProbe> probe;
    std::optional<FunctionTypes::Place> place;
    std::string file_system;  // of a function attached after the start: the file system that has it
    uint64_t since_ns = 0;    // when it was attached; 0: at the start
  };
  using Seen = std::array<int, MLRUN_FILE_PURPOSES>;  // records by operation

  // The functions of these file systems. `try_all` does every operation once and returns what was recorded; it fails
  // where that is impossible. Requires: `types` and the programs outlive this object.
  void attach(const FileOpPrograms& programs, FunctionTypes& types, const FileSystemTypes& mounted,
              const std::function<Result<Seen>()>& try_all);

  // Queues functions of file systems that were not mounted before. attach_next attaches one, as each takes
  // milliseconds, and returns it; nullptr: the queue is empty. `is_late`: files of it may have been used meanwhile.
  void add(const FileSystemTypes& mounted);
  const Function* attach_next(bool is_late);

  // The functions that this kernel has.
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

// The trial's file is in memory: it never waits for pages, shares blocks or completes asynchronously.
bool is_tried(uint32_t op);

}  // namespace mlrun::probes
