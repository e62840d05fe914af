// SPDX-License-Identifier: Apache-2.0
// A list that only grows: items have stable addresses and are not copied when it grows. Its memory is in chunks that
// may be spilled (spilled_memory.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runner/util/spilled_memory.h"

namespace mlrun::util {

template <typename T>
class ChunkedList {
 public:
  ChunkedList() = default;
  ~ChunkedList() { clear(); }
  ChunkedList(ChunkedList&& other) noexcept
      : chunks_(std::exchange(other.chunks_, {})), size_(std::exchange(other.size_, 0)) {}
  ChunkedList& operator=(ChunkedList&& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ChunkedList(const ChunkedList&) = delete;
  ChunkedList& operator=(const ChunkedList&) = delete;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Requires: index < size().
  T& operator[](size_t index) { return chunks_[index / kItems][index % kItems]; }
  const T& operator[](size_t index) const { return chunks_[index / kItems][index % kItems]; }

  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ == chunks_.size() * kItems) {
      chunks_.push_back(SpillAllocator<T>().allocate(kItems));
      LargeMemory::trim();
    }
    return *std::construct_at(&(*this)[size_++], std::forward<Arguments>(arguments)...);
  }
  void push_back(const T& item) { emplace_back(item); }

  void clear() {
    for (size_t i = 0; i < size_; ++i) std::destroy_at(&(*this)[i]);
    for (T* chunk : chunks_) SpillAllocator<T>().deallocate(chunk, kItems);
    chunks_.clear();
    size_ = 0;
  }

  template <typename List, typename Item>
  class IteratorOf {
   public:
    IteratorOf(List* list, size_t at) : list_(list), at_(at) {}
    Item& operator*() const { return (*list_)[at_]; }
    IteratorOf& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const IteratorOf&) const = default;

   private:
    List* list_;
    size_t at_;
  };
  auto begin() { return IteratorOf<ChunkedList, T>(this, 0); }
  auto end() { return IteratorOf<ChunkedList, T>(this, size_); }
  auto begin() const { return IteratorOf<const ChunkedList, const T>(this, 0); }
  auto end() const { return IteratorOf<const ChunkedList, const T>(this, size_); }

 private:
  static constexpr size_t kItems = (LargeMemory::kLeastBytes + sizeof(T) - 1) / sizeof(T);

  std::vector<T*> chunks_;
  size_t size_ = 0;
};

}  // namespace mlrun::util
