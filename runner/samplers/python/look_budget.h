// SPDX-License-Identifier: Apache-2.0
// How much of a processor looks may take: a share of the time that goes by. What they left unused is kept for those that
// take longer, up to a limit, so that a quiet hour is not followed by a busy minute.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlrun::python {

class LookBudget {
 public:
  LookBudget(double share, double saved_max_ns, uint64_t now_ns)
      : share_(share), saved_max_ns_(saved_max_ns), left_ns_(saved_max_ns), before_ns_(now_ns) {}

  // Whether there may be a look now. Requires: now_ns does not go back.
  bool allows(uint64_t now_ns) {
    left_ns_ = std::min(left_ns_ + share_ * static_cast<double>(now_ns - before_ns_), saved_max_ns_);
    before_ns_ = now_ns;
    return left_ns_ > 0;
  }
  // Of a look, which may be more than there was: those after it wait for longer then.
  void take(uint64_t cpu_ns) { left_ns_ -= static_cast<double>(cpu_ns); }

 private:
  double share_, saved_max_ns_, left_ns_;
  uint64_t before_ns_;
};

}  // namespace mlrun::python
