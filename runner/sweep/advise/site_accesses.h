// SPDX-License-Identifier: Apache-2.0
// What --access saw of the blocks of each call stack: the table access_site.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/util/result.h"

namespace mlrun::sweep {

struct Accesses {
  double seen_byte_s = 0, touched_byte_s = 0;  // bytes × time that windows or page samples observed, and found accessed
  double accesses = 0, load_cycles = 0;        // by precise events: loads and stores; loads x mean latency

  Accesses& operator+=(const Accesses& other);
};

struct SiteAccesses {
  // The mechanism, as a word of --access; empty: the trace has none that distinguishes hot from cold memory.
  std::string rung;
  std::unordered_map<int64_t, Accesses> by_stack;
};

// From the best mechanism (first in kRungs) that observed any access. Traces of older versions have none.
Result<SiteAccesses> read_accesses(const std::string& trace);

}  // namespace mlrun::sweep
