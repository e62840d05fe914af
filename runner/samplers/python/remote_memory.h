// SPDX-License-Identifier: Apache-2.0
// Reads the memory of another process by process_vm_readv, without stopping it. The data is untrusted and may change
// while it is read.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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

  // Reads all bytes, or returns false.
  bool read(uint64_t address, void* to, size_t bytes);
  // Reads all pieces in few system calls. True: all pieces were read completely.
  bool read(std::span<const RemotePiece> pieces);

  template <typename T>
  std::optional<T> get(uint64_t address) {
    T value{};
    if (!read(address, &value, sizeof value)) return {};
    return value;
  }

  // errno of the last failed read: EPERM, ESRCH (the process has ended), EFAULT; 0: none failed since forget_error().
  [[nodiscard]] int last_error() const { return error_; }
  void forget_error() { error_ = 0; }

 private:
  pid_t pid_;
  int error_ = 0;
};

// The value at an offset in bytes that were read from another process.
template <typename T>
T value_at(const char* bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace mlrun::python
