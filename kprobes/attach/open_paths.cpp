// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/open_paths.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mlrun::probes {

// Leaves out the fentry program if the kernel's BTF lacks the function: the kernel would refuse it, and libbpf then
// loads no program at all.
void OpenPaths::choose(OpenPrograms programs, FunctionTypes& types, std::string why_none) {
  programs_ = programs;
  reason_ = std::move(why_none);
  if (programs_.traced == nullptr || types.find(kOpenFunction, "")) return;
  programs_.traced = nullptr;
  reason_ = "fentry: the function is not in this kernel's BTF";
}

void OpenPaths::attach(const std::function<Result<int>()>& try_it) {
  attach(programs_.traced, ::bpf_program__attach_trace, "fentry", try_it);
  if (mechanism_.empty()) attach(programs_.probed, ::bpf_program__attach, "kprobe", try_it);
}

void OpenPaths::attach(bpf_program* program, bpf_link* (*attach_it)(const bpf_program*), const std::string& mechanism,
                       const std::function<Result<int>()>& try_it) {
  if (program == nullptr) return;
  link_.reset(attach_it(program));
  if (!link_) {
    reason_ = mechanism + ": cannot be attached: " + std::strerror(errno);
    return;
  }
  if (const auto paths = try_it(); paths && *paths == 0) {
    reason_ = mechanism + ": attached, but a test of it recorded nothing";
    link_.reset();
    return;
  }
  mechanism_ = mechanism;
  reason_.clear();
}

}  // namespace mlrun::probes
