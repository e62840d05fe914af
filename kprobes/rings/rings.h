// SPDX-License-Identifier: Apache-2.0
// How many rings the programs write into, and the maps of these. A ring has one lock for all its writers, so there is
// one for each 8 online processors: up to 8 of them share the one that the programs name; on larger machines each
// processor finds its ring in a table (bpf/ring.h). Together they have as many bytes as the single ring, but at least 1
// MiB each: 8 MiB up to 64 processors, and 1 MiB more for each further 8.
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
  // Before the programs are loaded: sets the size of `one` and, if it is used, the capacity of `table`, for all
  // processors. ring_bytes: of each, a power of two of whole pages; 0: the default above.
  Rings(bpf_map* one, bpf_map* table, uint32_t ring_bytes);

  // True: the programs have to use the table.
  [[nodiscard]] bool has_table() const { return count_ > 1; }
  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] uint32_t ring_bytes() const { return bytes_; }

  // After the load, before any program is attached.
  Status open();

  // See RingReader. Requires: open().
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
