// SPDX-License-Identifier: Apache-2.0
// The CPU budget of samples: a share of the elapsed time. Unused budget is saved for samples that take longer, up to a
// limit, so that a quiet hour is not followed by a busy minute.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlrun::looks {

class LookBudget {
 public:
  LookBudget(double share, double saved_max_ns, uint64_t now_ns)
      : share_(share), saved_max_ns_(saved_max_ns), left_ns_(saved_max_ns), before_ns_(now_ns) {}

  // Whether a sample may be taken now. Requires: now_ns does not go back.
  bool allows(uint64_t now_ns) {
    left_ns_ = std::min(left_ns_ + share_ * static_cast<double>(now_ns - before_ns_), saved_max_ns_);
    before_ns_ = now_ns;
    return left_ns_ > 0;
  }
  // Charges a sample. It may exceed the budget, which delays the next ones.
  void take(uint64_t cpu_ns) { left_ns_ -= static_cast<double>(cpu_ns); }
  // Negative: it is exceeded.
  [[nodiscard]] double left_ns() const { return left_ns_; }

 private:
  double share_, saved_max_ns_, left_ns_;
  uint64_t before_ns_;
};

}  // namespace mlrun::looks
