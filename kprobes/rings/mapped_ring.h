// SPDX-License-Identifier: Apache-2.0
// A kernel ring (BPF_MAP_TYPE_RINGBUF), read through its shared memory. libbpf consumes all records of a ring at
// once; here a record can be read before it is consumed, as merging several rings requires.
//
//   | reader position | writer position | data | the same data again, so that every record is contiguous |
//     one page, ours     one page, the kernel's
//
// Both positions only grow. Each record has an 8-byte header: its length, a bit that is set while a BPF program fills
// the record, and a bit that is set if the program discarded it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/util/mapping.h"
#include "runner/util/result.h"

namespace mlrun::probes {

class MappedRing {
 public:
  struct Record {
    const void* data = nullptr;  // in the ring, valid until pass(); nullptr: a program still fills it
    size_t bytes = 0;
    bool is_taken_back = false;  // its program discarded it: it has no content
  };

  // Requires: `bytes` is the size of that ring's data.
  static Result<MappedRing> map(int fd, size_t bytes);

  // The current position of the writers: all records that programs have begun until now are before it.
  [[nodiscard]] uint64_t written() const;
  [[nodiscard]] uint64_t position() const { return position_; }

  // Requires: position() is before written().
  [[nodiscard]] Record next() const;
  // Consumes the next record: gives its space back to the writers. Requires: it is filled.
  void pass();

 private:
  MappedRing(util::Mapping ours, util::Mapping kernels, size_t bytes);

  util::Mapping ours_, kernels_;
  const char* data_;
  size_t mask_;
  uint64_t position_;
};

}  // namespace mlrun::probes
