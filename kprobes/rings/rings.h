// SPDX-License-Identifier: Apache-2.0
// The ring buffers that the BPF programs write into. A ring has one lock for all its writers, so there is a ring for
// each 8 online processors. Up to 8 processors use the map `ring` that the programs name; on larger machines a
// processor finds its ring in the table `rings` (bpf/ring.h). All rings together have at most 8 MiB up to 64
// processors, as the size of a ring is a power of two, and 1 MiB more for each further 8: no ring is smaller than 1 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kprobes/rings/ring_reader.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

struct bpf_map;

namespace mlrun::probes {

// For tests: how many processors share a ring. Ignored where mlrun-probes has rights that its caller lacks.
inline constexpr const char* kRingProcessorsVariable = "MLRUN_RING_PROCESSORS";

class Rings {
 public:
  // Called before the programs are loaded: sets the size of the map `one` and, if it is used, the capacity of `table`.
  // ring_bytes: size of each ring, a power of two and a multiple of the page size; 0: the default above.
  Rings(bpf_map* one, bpf_map* table, uint32_t ring_bytes);

  // True: the programs must use the table of rings.
  [[nodiscard]] bool has_table() const { return count_ > 1; }
  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] uint32_t ring_bytes() const { return bytes_; }

  // Called after the programs are loaded and before any is attached.
  Status open();

  // See RingReader. Requires: open().
  void drain(const RingReader::Take& take) { reader_->drain(take); }

 private:
  Status fill_table();

  bpf_map *one_, *table_;
  size_t count_;
  uint32_t bytes_, possible_;  // bytes_: of each ring; possible_: number of possible processors
  std::vector<util::UniqueFd> of_table_;
  std::optional<RingReader> reader_;
};

}  // namespace mlrun::probes
