// SPDX-License-Identifier: Apache-2.0
// Operations on files told by the entry and return of system calls (bpf/file_syscalls.h), where none of the kernel's functions
// on files can be probed. Both programs or none; they work when operations that are tried are seen.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kprobes/attach/file_ops.h"
#include "kprobes/attach/function_types.h"
#include "runner/util/result.h"

struct bpf_link;
struct btf;
struct bpf_program;

namespace mlrun::probes {

// Numbers of the kernel's types; 0: not to be used.
struct CastTypes {
  uint32_t file = 0, slot = 0;
};

// Attached while it lives, or until detach().
class FileSyscalls {
 public:
  // Before programs are loaded: whether these are needed. Left out where this kernel does not have the events.
  void choose(bpf_program* entered, bpf_program* left, FunctionTypes& types, bool is_wanted);
  // With that function of this kernel, if it has it, `entered` reads files by loads. The types are then what
  // bpf/descriptor.h needs; 0: it reads them by the kernel's helper.
  CastTypes read_by_loads(const btf* kernel, FunctionTypes& types);
  [[nodiscard]] bool is_wanted() const { return programs_.front() != nullptr; }

  // `try_all` as with FileOps.
  void attach(const std::function<Result<FileOps::Seen>()>& try_all);
  void detach() { links_.clear(); }

  [[nodiscard]] bool works() const { return works_; }
  // Why not, where they were wanted.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Of what was tried and was not seen.
  [[nodiscard]] const std::vector<std::string>& unseen() const { return unseen_; }

 private:
  struct LinkDeleter {
    void operator()(bpf_link* link) const;
  };

  std::array<bpf_program*, 2> programs_{};  // the return first: a call that began before it would not be seen to end
  std::vector<std::unique_ptr<bpf_link, LinkDeleter>> links_;
  bool works_ = false;
  std::string reason_;
  std::vector<std::string> unseen_;
};

}  // namespace mlrun::probes
