// SPDX-License-Identifier: Apache-2.0
// Writes the argument layouts of static probes into a map for the BPF programs, each different layout once.
#pragma once

#include <cstdint>
#include <vector>

#include "kprobes/bpf/shared.h"
#include "runner/util/result.h"

namespace mlrun::probes {

class ProbeLayouts {
 public:
  // `map`: an array of struct mlrun_probe_layout with MLRUN_PROBE_LAYOUTS_MAX entries, which outlives this object.
  explicit ProbeLayouts(int map) : map_(map) {}

  // Returns the layout's index in the map. Fails when the map is full.
  Result<uint64_t> add(const mlrun_probe_layout& layout);

 private:
  int map_;
  std::vector<mlrun_probe_layout> layouts_;
};

}  // namespace mlrun::probes
