// SPDX-License-Identifier: Apache-2.0
// Heap peaks during the run. A block may be allocated and freed by different threads, so records must be applied in
// order of time: they wait until no older record can arrive from another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/events/sums.h"
#include "runner/summary/meters/heap_meter.h"
#include "runner/sums/sums_clock.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

// Site of an allocation: a return address, or MLRUN_SITE_IS_STACK | id of a stack.
inline uint64_t site_of(const decode::AllocEvent& alloc) {
  return alloc.stack != 0 ? MLRUN_SITE_IS_STACK | alloc.stack : alloc.site;
}

class HeapWatch {
 public:
  HeapWatch(int64_t alloc_min_bytes, const SumsClock& clock) : alloc_min_bytes_(alloc_min_bytes), clock_(clock) {}

  // `channel`: the channel that represents the process in the sums; `end`: on the clock of the channels.
  void add(uint32_t process, uint64_t channel, const decode::AllocEvent& alloc, uint64_t end);
  void add(uint32_t process, uint64_t channel, const model::AllocSmallRow& row);

  // Applies records that ended up to `clock`.
  void pass(uint64_t clock);

  // The process has no further records.
  void end(uint32_t process) { ended_.push_back(process); }

  // Appends the frames of all processes.
  void write(std::string& text);

 private:
  static constexpr size_t kHeapsMax = size_t{1} << 14;
  static constexpr size_t kWaitingMax = size_t{1} << 18;

  struct Waiting {
    int64_t time_ns = 0;  // on the clock of the channels
    uint32_t process = 0;
    decode::AllocEvent alloc;
  };
  struct Heap {
    uint64_t channel = 0;
    std::unique_ptr<summary::HeapMeter> meter;  // null: the process has ended
    std::string frame;                          // its final frame if the process has ended
  };
  Heap* heap_of(uint32_t process, uint64_t channel);
  void follow(uint64_t clock);
  void follow(const Waiting& waiting);
  [[nodiscard]] std::string frame_of(summary::HeapMeter& meter) const;

  int64_t alloc_min_bytes_;
  const SumsClock& clock_;
  summary::BlockRoom room_;
  std::unordered_map<uint32_t, Heap> heaps_;  // by process
  std::vector<Waiting> waiting_, spare_;
  std::vector<uint32_t> ended_;
  std::vector<uint64_t> sites_{0};  // site by its number in the meters
  util::FlatMap<uint32_t> site_numbers_;
};

}  // namespace mlrun::sums
