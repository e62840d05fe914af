// SPDX-License-Identifier: Apache-2.0
// Allocations and file calls by stack, and from these by function. A function of the C or C++ runtime library is
// attributed to its caller: operator new, fopen and similar are not informative.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/stack_table.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class SiteMeter {
 public:
  void add(const model::CallRow& row, const CallFacts& facts);
  void add(const model::AllocRow& row);
  void add(const model::SumRow& sum);

  // Allocating functions by bytes, then callers of file functions by time; the first kTopSites of each.
  [[nodiscard]] std::vector<SiteSummary> sites(const model::StackTable& stacks) const;

 private:
  struct Sum {
    int64_t calls = 0, bytes = 0, time_ns = 0;
  };
  using Sums = std::vector<Sum>;  // by stack_id

  static Sum& sum_of(Sums& sums, int32_t stack_id);
  static void append(SiteKind kind, const Sums& sums, const model::StackTable& stacks, std::vector<SiteSummary>& out);

  Sums allocations_, files_;
};

}  // namespace mlrun::summary
