// SPDX-License-Identifier: Apache-2.0
// What --access saw of the blocks of each call stack: the table access_site.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/util/result.h"

namespace mlrun::sweep {

struct Accesses {
  double seen_byte_s = 0, touched_byte_s = 0;  // by windows or pages
  double accesses = 0, load_cycles = 0;        // by precise events: loads and stores; loads x mean latency

  Accesses& operator+=(const Accesses& other);
};

struct SiteAccesses {
  std::string rung;  // a word of --access; empty: the trace has none that tells hot memory from cold
  std::unordered_map<int64_t, Accesses> by_stack;
};

// By the best rung that saw anything, in the order of the ladder. A trace of an older version has none.
Result<SiteAccesses> read_accesses(const std::string& trace);

}  // namespace mlrun::sweep
