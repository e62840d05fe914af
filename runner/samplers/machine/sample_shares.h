// SPDX-License-Identifier: Apache-2.0
// Divides the sampler's share of a processor. A sample of many threads costs a hundred times as much as one of all other words, so
// `process` waits until the sampler as a whole is within the share, while the other words count only their own cost. They
// get at most three quarters of the share, so that `process` always has a quarter.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/samplers/rounds/sample_budget.h"

namespace mlrun::machine {

class SampleShares {
 public:
  // What is sampled: `process`, other words.
  struct Words {
    bool process = false, others = false;
  };

  SampleShares(double share, double saved_max_ns, Words words, uint64_t now_ns)
      : words_(words),
        all_(share, saved_max_ns, now_ns),
        others_(words.process ? kOthersShare * share : share, saved_max_ns, now_ns) {}

  // Charges CPU time, and the part of it that went to `process`.
  void take(uint64_t cpu_ns, uint64_t process_cpu_ns) {
    all_.take(cpu_ns);
    others_.take(cpu_ns - std::min(cpu_ns, process_cpu_ns));
  }
  // What may be sampled now. Requires: now_ns does not decrease.
  Words due(uint64_t now_ns) {
    const bool all = all_.allows(now_ns), others = others_.allows(now_ns);
    return {words_.process && all, words_.others && others};
  }

 private:
  static constexpr double kOthersShare = 0.75;

  Words words_;
  rounds::SampleBudget all_, others_;
};

}  // namespace mlrun::machine
