// SPDX-License-Identifier: Apache-2.0
// The probe that records the paths of files as they are opened (bpf/file_path.h): fentry, else kprobe. A mechanism
// works when it attaches and a trial open is recorded.
#pragma once

#include <functional>
#include <string>

#include "kprobes/attach/function_types.h"
#include "kprobes/libraries/bpf_link.h"
#include "runner/util/result.h"

struct bpf_link;
struct bpf_program;

namespace mlrun::probes {

inline constexpr const char* kOpenFunction = "security_file_open";

// The programs by fentry and by kprobe; nullptr: this kernel lacks the mechanism, or it was not requested.
struct OpenPrograms {
  bpf_program *traced = nullptr, *probed = nullptr;
};

// After attach() the probe stays attached until the destruction.
class OpenPaths {
 public:
  // Called before the programs are loaded: decides which of these are. `why_none`: if neither can be, the reason.
  void choose(OpenPrograms programs, FunctionTypes& types, std::string why_none);
  [[nodiscard]] bool needs(const bpf_program* program) const {
    return program == programs_.traced || program == programs_.probed;
  }

  // `try_it` opens a file and returns how many paths were recorded; it fails if the trial cannot be run.
  void attach(const std::function<Result<int>()>& try_it);

  // The mechanism: fentry or kprobe; empty: not attached, and reason() says why.
  [[nodiscard]] const std::string& mechanism() const { return mechanism_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  void attach(bpf_program* program, bpf_link* (*attach_it)(const bpf_program*), const std::string& mechanism,
              const std::function<Result<int>()>& try_it);

  OpenPrograms programs_;
  Link link_;
  std::string mechanism_, reason_;
};

}  // namespace mlrun::probes
