// SPDX-License-Identifier: Apache-2.0
// Memory for tables that grow with what was traced (names, files). While a SpillFolder is there, what goes beyond its
// budget is backed by deleted files in that folder, and no more than a part of it is resident at a time: the process
// keeps its size, and the kernel writes the pages out when it needs them.
//
//   below kLeastBytes            malloc
//   within SpillFolder's budget  anonymous memory, huge pages
//   beyond                       a shared mapping of a deleted file; resident pages above kResidentBytes are dropped, by a
//                                thread and by what writes them
//
// Where the folder has no room for a table, anonymous memory is taken for it. Without a SpillFolder all of it is anonymous.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "runner/util/unique_fd.h"

namespace mlrun::util {

class SpillFolder {
 public:
  static constexpr size_t kAnonymousBytes = size_t{64} << 20, kResidentBytes = size_t{48} << 20;

  // The folder has to be there when memory is taken. Requires: one object at a time, and that all memory that is taken
  // while it is there is given back before it goes.
  explicit SpillFolder(std::string folder, size_t anonymous_bytes = kAnonymousBytes);
  ~SpillFolder();
  SpillFolder(const SpillFolder&) = delete;
  SpillFolder& operator=(const SpillFolder&) = delete;

  // Bytes in files, of what is taken now.
  [[nodiscard]] size_t spilled_bytes() const;

 private:
  friend struct LargeMemory;
  void* take(size_t bytes);
  void give_back(void* memory, size_t bytes);
  void* map_file(size_t bytes);
  void trim();
  void trim_if_large();
  void trim_until_stopped();

  const std::string folder_;
  const size_t anonymous_bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable stops_;
  std::unordered_map<void*, size_t> files_;  // mappings of files, with their bytes
  UniqueFd statm_;
  size_t others_bytes_ = SIZE_MAX;  // resident pages of files that are not ours; at first not known
  size_t anonymous_bytes_ = 0;
  bool stopped_ = false;
  std::thread trimmer_;  // from the first file on
};

struct LargeMemory {
  static constexpr size_t kLeastBytes = size_t{4} << 20;

  // Requires: bytes >= kLeastBytes. Zeroed memory; throws std::bad_alloc. Safe from several threads.
  static void* take(size_t bytes);
  static void give_back(void* memory, size_t bytes);
  // To be called now and then by what touches much of such memory: drops resident pages of files if they are too many.
  static void trim();
};

template <typename T>
class SpillAllocator {
 public:
  using value_type = T;

  SpillAllocator() = default;
  template <typename U>
  SpillAllocator(const SpillAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes >= LargeMemory::kLeastBytes) return static_cast<T*>(LargeMemory::take(bytes));
    void* memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  // What is made without a value is all zeros, as the memory is: a large table is not touched before it is used. Requires: such
  // items are made in memory that is used for the first time (by a container's constructor, say).
  template <typename U>
  void construct(U*) noexcept {}
  template <typename U, typename First, typename... Rest>
  void construct(U* at, First&& first, Rest&&... rest) {
    std::construct_at(at, std::forward<First>(first), std::forward<Rest>(rest)...);
  }
  void deallocate(T* memory, size_t count) {
    const size_t bytes = count * sizeof(T);
    bytes >= LargeMemory::kLeastBytes ? LargeMemory::give_back(memory, bytes) : std::free(memory);
  }

  static void trim() { LargeMemory::trim(); }

  bool operator==(const SpillAllocator&) const = default;
};

}  // namespace mlrun::util
