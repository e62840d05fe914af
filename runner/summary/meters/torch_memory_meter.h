// SPDX-License-Identifier: Apache-2.0
// Adds up GPU memory that PyTorch's allocator gave to tensors, by process and device: the peak, and what was never
// returned. Memory: kFollowedMax live pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runner/model/torch_memory.h"
#include "runner/summary/gpu_work.h"

namespace mlrun::summary {

class TorchMemoryMeter {
 public:
  // Requires: rows in the order of time. Gives a release its allocation's size and device, and each row the bytes held at that time.
  void add(model::TorchMemoryRow& row);

  // By process and device.
  [[nodiscard]] std::vector<TorchMemorySummary> finish() const;

  static constexpr size_t kFollowedMax = size_t{1} << 20;

 private:
  struct Key {
    int32_t proc_id = 0, device = -1;
    auto operator<=>(const Key&) const = default;
  };
  struct Group {
    TorchMemorySummary sums;
    int64_t held_bytes = 0;
  };
  struct Piece {
    int32_t device = -1;
    int64_t bytes = 0;
  };
  struct Place {
    int32_t proc_id = 0;
    uint64_t address = 0;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    size_t operator()(const Place& place) const;
  };
  void allocate(model::TorchMemoryRow& row);
  void release(model::TorchMemoryRow& row);

  std::map<Key, Group> groups_;
  std::unordered_map<Place, Piece, HashPlace> pieces_;  // allocated and not released
};

}  // namespace mlrun::summary
