// SPDX-License-Identifier: Apache-2.0
// A kernel ring (BPF_MAP_TYPE_RINGBUF), read through its shared memory. libbpf empties a ring in one go; here a record
// can be inspected before it is consumed, as merging several rings requires.
//
//   | reader position | writer position | data | the same data again, so that every record is contiguous |
//     one page, ours     one page, the kernel's
//
// Both positions only grow. Each record has an 8-byte header: its length, a bit while it is being filled, and a bit if
// its program discarded it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/util/mapping.h"
#include "runner/util/result.h"

namespace mlrun::probes {

class MappedRing {
 public:
  struct Record {
    const void* data = nullptr;  // in the ring, until it is passed; nullptr: it is still being filled
    size_t bytes = 0;
    bool is_taken_back = false;  // discarded, it has no content
  };

  // Requires: `bytes` is the size of that ring's data.
  static Result<MappedRing> map(int fd, size_t bytes);

  // The writer position now: records begun earlier are before it.
  [[nodiscard]] uint64_t written() const;
  [[nodiscard]] uint64_t position() const { return position_; }

  // Requires: position() is before written().
  [[nodiscard]] Record next() const;
  // Returns the space of the next record, which must be filled, to the writers.
  void pass();

 private:
  MappedRing(util::Mapping ours, util::Mapping kernels, size_t bytes);

  util::Mapping ours_, kernels_;
  const char* data_;
  size_t mask_;
  uint64_t position_;
};

}  // namespace mlrun::probes
