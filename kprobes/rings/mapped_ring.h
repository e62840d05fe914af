// SPDX-License-Identifier: Apache-2.0
// A ring of the kernel's (BPF_MAP_TYPE_RINGBUF), read through its shared memory. libbpf empties a ring at one go; here a
// record can be looked at before it is taken, which the order between several rings needs.
//
//   | how far the reader is | how far the writers are | data | the same data again, so that no record has two ends |
//       one page, ours          one page, the kernel's
//
// Both positions only grow. Before each record stand 8 bytes with its length and a bit that says that it is still being
// filled, and one that says that its program has taken it back.
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
    bool is_taken_back = false;  // it has no content
  };

  // Requires: `bytes` is the size of that ring's data.
  static Result<MappedRing> map(int fd, size_t bytes);

  // How far the writers are now: what they began before is behind it.
  [[nodiscard]] uint64_t written() const;
  [[nodiscard]] uint64_t position() const { return position_; }

  // Requires: position() is before written().
  [[nodiscard]] Record next() const;
  // Gives the place of the next record, which was filled, back to the writers.
  void pass();

 private:
  MappedRing(util::Mapping ours, util::Mapping kernels, size_t bytes);

  util::Mapping ours_, kernels_;
  const char* data_;
  size_t mask_;
  uint64_t position_;
};

}  // namespace mlrun::probes
