// SPDX-License-Identifier: Apache-2.0
// The two programs of file_op.h on one kernel function, at its entry and return: fentry and fexit, or kprobe and
// kretprobe.
#pragma once

#include <string>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/function_types.h"
#include "kprobes/libraries/bpf_link.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

struct bpf_program;

namespace mlrun::probes {

// The programs for kernel functions in the loaded object; nullptr: this kernel lacks the mechanism.
struct FileOpPrograms {
  const bpf_program *entry = nullptr, *exit = nullptr;
  const bpf_program *iteration_entry = nullptr, *iteration_exit = nullptr;  // for reads and writes
  bpf_program *call = nullptr, *returned = nullptr;
  std::string why_no_entry;  // reason, if `entry` is nullptr
};

// The attached probe of one function. Its destruction detaches it.
class FunctionProbe {
 public:
  // Attach the programs by fentry or by kprobe. Takes some milliseconds: the kernel rewrites the function's first bytes
  // and waits for all processors.
  static Result<FunctionProbe> by_fentry(const FileOpPrograms& programs, const FileFunction& function,
                                         FunctionTypes::Place place);
  static Result<FunctionProbe> by_kprobe(const FileOpPrograms& programs, const FileFunction& function);

  [[nodiscard]] uint64_t skipped() const;

 private:
  util::UniqueFd programs_[2], links_[2];
  Link probes_[2];
};

// Checks whether the kernel loads fentry programs, or programs for kprobes; the error says why not. It may still refuse
// to attach them. A test of that here would take as long as attaching ten functions: the kernel waits for all tasks
// before it releases a program.
Status can_trace_functions(FunctionTypes& types);
Status can_probe_functions();
// Whether a program can read the cookie of its probe (Linux 5.15). Probes on libraries identify their function by it.
bool has_probe_cookies();
// How often the kernel did not run the program `program` (a descriptor), because it was already running on the
// processor.
uint64_t times_skipped(int program);

}  // namespace mlrun::probes
