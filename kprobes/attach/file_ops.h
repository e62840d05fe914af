// SPDX-License-Identifier: Apache-2.0
// Attaches probes to the kernel functions for operations on files. Each function takes the first mechanism that works:
// fentry, then kprobe. Opens have a last fallback, security_file_open, which sees part of an open. Otherwise the
// operation is not recorded. A mechanism works when it attaches and a trial of the operation, if there is one, is
// recorded.
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
    std::string mechanism;  // fentry, kprobe; empty: not attached
    std::string reason;     // why it is not attached; if attached by kprobe, why not by fentry
    std::optional<FunctionProbe> probe;
    std::optional<FunctionTypes::Place> place;
    std::string file_system;  // if attached after the start: the newly mounted type that has it
    uint64_t since_ns = 0;    // when it was attached; 0: at the start
  };
  using Seen = std::array<int, MLRUN_FILE_PURPOSES>;  // number of records, by operation

  // Attaches the functions of the types in `mounted`. `try_all` does the trial and returns the number of records; it
  // fails if the trial cannot be run. Requires: `types` and the programs outlive this object.
  void attach(const FileOpPrograms& programs, FunctionTypes& types, const FileSystemTypes& mounted,
              const std::function<Result<Seen>()>& try_all);

  // add() queues the functions of types that were not mounted before. attach_next() attaches only one of them, since
  // each takes milliseconds, and returns it; nullptr: the queue is empty. `is_late`: its files may already be in use.
  void add(const FileSystemTypes& mounted);
  const Function* attach_next(bool is_late);

  // The functions that this kernel has, attached or not; without those still in the queue.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  void attach_by_fentry(Function& function) const;
  void attach_all_by_fentry();
  void attach_by_kprobe(Function& function) const;
  void doubt(const Seen& seen, const std::function<void(Function&)>& then);
  void settle(const std::function<Result<Seen>()>& try_all);
  void settle_fallback(Function& function, const std::function<Result<Seen>()>& try_all) const;
  void add_fallbacks(std::vector<Function> fallbacks, const std::function<Result<Seen>()>& try_all);

  FileOpPrograms programs_;
  FunctionTypes* types_ = nullptr;
  FileSystemTypes known_;
  std::vector<Function> functions_;
  std::deque<Function> waiting_;
};

// Whether the trial includes the operation. Its file is in memory: no page faults, clones or asynchronous completions.
bool is_tried(uint32_t op);

}  // namespace mlrun::probes
