// SPDX-License-Identifier: Apache-2.0
// The memory of another process, read by process_vm_readv: the process is neither stopped nor told. What is read may be
// anything, and may change while it is read.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mlrun::python {

struct RemotePiece {
  uint64_t address = 0;
  void* to = nullptr;
  size_t bytes = 0;
};

class RemoteMemory {
 public:
  explicit RemoteMemory(uint32_t pid) : pid_(static_cast<pid_t>(pid)) {}

  // All of it, or false.
  bool read(uint64_t address, void* to, size_t bytes);
  // The pieces one after another, in few system calls. True: all of them whole.
  bool read(std::span<const RemotePiece> pieces);

  template <typename T>
  std::optional<T> get(uint64_t address) {
    T value{};
    if (!read(address, &value, sizeof value)) return {};
    return value;
  }

  // errno of the last read that failed: EPERM, ESRCH (it has ended), EFAULT; 0: none did since forget_error().
  [[nodiscard]] int last_error() const { return error_; }
  void forget_error() { error_ = 0; }

 private:
  pid_t pid_;
  int error_ = 0;
};

}  // namespace mlrun::python
