// SPDX-License-Identifier: Apache-2.0
// The argument layouts of static probes, written once each into a map for the BPF programs.
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

  // Returns its number. Fails when there are too many.
  Result<uint64_t> add(const mlrun_probe_layout& layout);

 private:
  int map_;
  std::vector<mlrun_probe_layout> layouts_;
};

}  // namespace mlrun::probes
