// SPDX-License-Identifier: Apache-2.0
// The fallback for file operations, used if no file function of the kernel can be probed: programs at the entry and the
// return of system calls (bpf/file_syscalls.h). Both are attached or none. They work when a trial of the operations
// (file_op_trial.h) is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kprobes/attach/file_ops.h"
#include "kprobes/attach/function_types.h"
#include "kprobes/libraries/bpf_link.h"
#include "runner/util/result.h"

struct btf;
struct bpf_program;

namespace mlrun::probes {

// BTF ids of the kernel's types to which pointers are cast; 0: no cast.
struct CastTypes {
  uint32_t file = 0, slot = 0;
};

// After attach() the programs stay attached until detach() or the destruction.
class FileSyscalls {
 public:
  // Called before the programs are loaded: decides whether these two are. They are not if this kernel lacks the events.
  void choose(bpf_program* entered, bpf_program* left, FunctionTypes& types, bool is_wanted);
  // If this kernel has bpf_rdonly_cast, changes the entry program so that it reads struct file by loads, and returns
  // the types that bpf/descriptor.h needs. Otherwise returns 0: the program reads through the kernel's helper.
  CastTypes read_by_loads(const btf* kernel, FunctionTypes& types);
  [[nodiscard]] bool is_wanted() const { return programs_.front() != nullptr; }

  // `try_all`: as for FileOps::attach.
  void attach(const std::function<Result<FileOps::Seen>()>& try_all);
  void detach() { links_.clear(); }

  [[nodiscard]] bool works() const { return works_; }
  // Why they are not attached although wanted.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Operations whose trial was not recorded.
  [[nodiscard]] const std::vector<std::string>& unseen() const { return unseen_; }

 private:
  // At return and at entry. Attached in this order, so that no call has an entry without an end.
  std::array<bpf_program*, 2> programs_{};
  std::vector<Link> links_;
  bool works_ = false;
  std::string reason_;
  std::vector<std::string> unseen_;
};

}  // namespace mlrun::probes
