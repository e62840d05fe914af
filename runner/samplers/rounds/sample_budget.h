// SPDX-License-Identifier: Apache-2.0
// The CPU budget of samples: a share of the elapsed time. Unused budget is saved for samples that take longer, up to a
// limit, so that a quiet hour is not followed by a busy minute. An advance pays for one-time work at the beginning.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mlrun::rounds {

class SampleBudget {
 public:
  // The share is smaller during the first `kRepayNs`, which pays the advance back.
  static constexpr uint64_t kRepayNs = 20'000'000'000;

  SampleBudget(double share, double saved_max_ns, uint64_t now_ns, double advance_ns = 0)
      : share_(share),
        saved_max_ns_(saved_max_ns),
        repaid_share_(advance_ns / static_cast<double>(kRepayNs)),
        left_ns_(saved_max_ns + advance_ns),
        began_ns_(now_ns),
        before_ns_(now_ns) {}

  // Whether a sample may be taken now. Requires: now_ns does not decrease.
  bool allows(uint64_t now_ns) {
    const double came_ns = share_now() * static_cast<double>(now_ns - before_ns_);
    left_ns_ = std::max(left_ns_, std::min(left_ns_ + came_ns, saved_max_ns_));
    before_ns_ = now_ns;
    return left_ns_ > 0;
  }
  // Charges a sample. It may exceed the budget, which delays the next ones.
  void take(uint64_t cpu_ns) { left_ns_ -= static_cast<double>(cpu_ns); }
  // Budget left; negative: it is exceeded.
  [[nodiscard]] double left_ns() const { return left_ns_; }
  // How long it takes until more than `wanted_ns` is left, if no sample is taken meanwhile. Requires: wanted_ns is below
  // the limit of saved budget.
  [[nodiscard]] uint64_t until_ns(double wanted_ns) const {
    return left_ns_ > wanted_ns ? 0 : static_cast<uint64_t>((wanted_ns - left_ns_) / share_now()) + 1;
  }

 private:
  [[nodiscard]] double share_now() const { return before_ns_ - began_ns_ < kRepayNs ? share_ - repaid_share_ : share_; }

  double share_, saved_max_ns_, repaid_share_, left_ns_;
  uint64_t began_ns_, before_ns_;
};

}  // namespace mlrun::rounds
