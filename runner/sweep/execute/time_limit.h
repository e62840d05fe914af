// SPDX-License-Identifier: Apache-2.0
// Ends a supervised command at its time limit: SIGTERM to its process group, and 5 s later SIGKILL to the command and all its
// descendants.
#pragma once

#include <cstdint>

#include "runner/sweep/execute/supervised.h"
#include "runner/util/clock.h"

namespace mlrun::sweep {

class TimeLimit {
 public:
  static constexpr int kTickMs = 200;  // how often is_due() is to be asked

  // 0: no limit. Requires: `supervised` outlives this object.
  TimeLimit(const Supervised& supervised, uint64_t limit_ns)
      : supervised_(supervised), limit_ns_(limit_ns), begun_ns_(util::monotonic_ns()) {}

  // The time is over, and there is still a signal to send.
  [[nodiscard]] bool is_due() const {
    return limit_ns_ != 0 && !killed_ && util::monotonic_ns() - begun_ns_ >= limit_ns_;
  }
  // Sends the signal that is due. Called again and again until the command has ended. Requires: is_due().
  void enforce() {
    const uint64_t now_ns = util::monotonic_ns();
    if (term_ns_ == 0) {
      term_ns_ = now_ns;
      supervised_.demand(Demand::kTerm);
    } else if (now_ns - term_ns_ > kTermNs) {
      killed_ = true;
      supervised_.demand(Demand::kKill);
    }
  }
  // A signal was sent.
  [[nodiscard]] bool was_enforced() const { return term_ns_ != 0; }

 private:
  static constexpr uint64_t kTermNs = 5'000'000'000;  // from SIGTERM to SIGKILL

  const Supervised& supervised_;
  uint64_t limit_ns_, begun_ns_, term_ns_ = 0;
  bool killed_ = false;
};

}  // namespace mlrun::sweep
