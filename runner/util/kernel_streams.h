// SPDX-License-Identifier: Apache-2.0
// The streams of kernel events beside block I/O. Their names are those of --kprobes, of session.json and of the requests
// to mlrun-probes.
#pragma once

#include <string>

namespace mlrun::util {

struct KernelStreams {
  bool wait = true, vfs = true;  // the streams of --kprobes=all
  bool syscalls = false;         // system calls, only as counts
  bool cuda = false;             // calls of libcuda; only with --pid, --cgroup or --system
  bool cufile = false;           // calls of libcufile
  bool torch = false;            // allocations of PyTorch's GPU allocator

  static constexpr void visit(auto&& streams, const auto& visitor) {
    visitor("wait", streams.wait);
    visitor("vfs", streams.vfs);
    visitor("syscalls", streams.syscalls);
    visitor("cuda", streams.cuda);
    visitor("cufile", streams.cufile);
    visitor("torch", streams.torch);
  }

  // "block,wait,vfs"
  [[nodiscard]] std::string names() const {
    std::string names = "block";
    visit(*this, [&](const char* name, bool is_on) { names += is_on ? std::string(",") + name : ""; });
    return names;
  }
};

}  // namespace mlrun::util
