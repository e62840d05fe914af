// SPDX-License-Identifier: Apache-2.0
// A memory mapping that unmaps itself.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace mlrun::util {

class Mapping {
 public:
  Mapping() = default;
  // Takes over what mmap returned; MAP_FAILED gives an invalid mapping; errno is unchanged.
  Mapping(void* address, size_t size_bytes) : data_(address == MAP_FAILED ? nullptr : address), size_(size_bytes) {}
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    if (this != &other) {
      unmap();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { unmap(); }

  [[nodiscard]] char* data() const { return static_cast<char*>(data_); }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool valid() const { return data_ != nullptr; }

 private:
  void unmap() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mlrun::util
