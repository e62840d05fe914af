// SPDX-License-Identifier: Apache-2.0
// The fallback for file operations: the entry and return of system calls (bpf/file_syscalls.h), where none of the
// kernel's file functions can be probed. Both programs are used or none; they work when a trial of the operations is
// recorded.
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

// BTF ids of the kernel's types to which pointers are cast; 0: no cast.
struct CastTypes {
  uint32_t file = 0, slot = 0;
};

// Attached until it is destroyed or detach() is called.
class FileSyscalls {
 public:
  // Before the programs are loaded: whether these are needed. They are left out where this kernel lacks the events.
  void choose(bpf_program* entered, bpf_program* left, FunctionTypes& types, bool is_wanted);
  // If this kernel has bpf_rdonly_cast, `entered` reads files by loads, and the returned types are what
  // bpf/descriptor.h needs. 0: it reads them through the kernel's helper.
  CastTypes read_by_loads(const btf* kernel, FunctionTypes& types);
  [[nodiscard]] bool is_wanted() const { return programs_.front() != nullptr; }

  // `try_all` as with FileOps.
  void attach(const std::function<Result<FileOps::Seen>()>& try_all);
  void detach() { links_.clear(); }

  [[nodiscard]] bool works() const { return works_; }
  // Why they are not attached although wanted.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Operations whose trial was not recorded.
  [[nodiscard]] const std::vector<std::string>& unseen() const { return unseen_; }

 private:
  struct LinkDeleter {
    void operator()(bpf_link* link) const;
  };

  std::array<bpf_program*, 2> programs_{};  // the return first: a call that began before it would have no end
  std::vector<std::unique_ptr<bpf_link, LinkDeleter>> links_;
  bool works_ = false;
  std::string reason_;
  std::vector<std::string> unseen_;
};

}  // namespace mlrun::probes
