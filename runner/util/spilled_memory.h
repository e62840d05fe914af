// SPDX-License-Identifier: Apache-2.0
// Memory for tables that grow with the trace (names, files). While a SpillFolder exists, memory beyond its budget is
// backed by deleted files in that folder, of which only a bounded part is resident: the process does not grow, and the
// kernel writes pages to disk when it needs their memory.
//
//   below kLeastBytes            malloc
//   within SpillFolder's budget  anonymous memory, huge pages
//   beyond this budget           a shared mapping of a deleted file; a thread, and code that fills tables, drop
//                                resident pages above kResidentBytes
//
// If the folder is full, or without a SpillFolder, memory is anonymous.
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

  // The folder must exist at every allocation. Requires: one object at a time; all memory allocated during its life is
  // freed before its end.
  explicit SpillFolder(std::string folder, size_t anonymous_bytes = kAnonymousBytes);
  ~SpillFolder();
  SpillFolder(const SpillFolder&) = delete;
  SpillFolder& operator=(const SpillFolder&) = delete;

  // Currently allocated bytes in files.
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
  std::unordered_map<void*, size_t> files_;  // mapped spill files, with their sizes
  UniqueFd statm_;
  size_t others_bytes_ = SIZE_MAX;  // resident pages of libraries and other files not ours; SIZE_MAX: not known yet
  size_t anonymous_bytes_ = 0;
  bool stopped_ = false;
  std::thread trimmer_;  // started with the first file
};

struct LargeMemory {
  static constexpr size_t kLeastBytes = size_t{4} << 20;

  // Requires: bytes >= kLeastBytes. Zeroed memory; throws std::bad_alloc. Safe from several threads.
  static void* take(size_t bytes);
  static void give_back(void* memory, size_t bytes);
  // To be called regularly by code that touches much of this memory: drops resident file pages if they are too many.
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
  // Construction without a value writes nothing, since the memory is zero: pages of a large table are not touched before
  // use. Requires: such items are constructed in fresh memory (by a container's constructor).
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
