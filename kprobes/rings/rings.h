// SPDX-License-Identifier: Apache-2.0
// How many rings the programs write into, and the maps of these. A ring is one lock for all who write into it, so there is
// one for each 8 processors that are online: up to 8 of them share the one that the programs name themselves, on larger
// machines each processor finds its own in a table (bpf/ring.h). Together they have as many bytes as the one, but 1 MiB each at
// least: 8 MiB up to 64 processors, and then 1 MiB for 8 more.
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

// For tests: how many processors share a ring. Not heard where mlrun-probes has rights that its caller has not.
inline constexpr const char* kRingProcessorsVariable = "MLRUN_RING_PROCESSORS";

class Rings {
 public:
  // Before the programs are loaded: `one` gets its size, and `table` room for all processors, if it is used.
  // ring_bytes: of each, a power of two, of pages; 0: as said above.
  Rings(bpf_map* one, bpf_map* table, uint32_t ring_bytes);

  // The programs have to look into the table.
  [[nodiscard]] bool has_table() const { return count_ > 1; }
  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] uint32_t ring_bytes() const { return bytes_; }

  // When they are loaded, before one is attached.
  Status open();

  // As RingReader has it. Requires: open().
  void drain(const RingReader::Take& take) { reader_->drain(take); }

 private:
  Status fill_table();

  bpf_map *one_, *table_;
  size_t count_;
  uint32_t bytes_, possible_;  // possible_: processors
  std::vector<util::UniqueFd> of_table_;
  std::optional<RingReader> reader_;
};

}  // namespace mlrun::probes
