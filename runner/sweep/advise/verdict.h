// SPDX-License-Identifier: Apache-2.0
// Whether a prediction held: control, near, far and advised runs in the same blocks.
#pragma once

#include <map>
#include <set>
#include <string>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

inline constexpr const char* kControl = "control";  // the same heap, the default policy
inline constexpr const char* kNear = "near";
inline constexpr const char* kFar = "far";
inline constexpr const char* kAdvised = "advised";

enum class Held {
  kHeld,        // the measured and the predicted interval overlap, and neither contains 0
  kFailed,      // the intervals do not overlap
  kCannotTell,  // they overlap, but one of them contains 0; or there are too few runs; or the placement of all is unknown
  kNoPrediction  // the advice is only a ranking
};

struct TryResult {
  Held held = Held::kNoPrediction;
  Comparison found;        // advised against far
  std::string unverified;  // far or advised, if it has only runs of which no page was sampled
};

// `only_unverified`: as in Measured.
TryResult judge(const Advice& advice, const std::map<std::string, Series>& time_s,
                const std::set<std::string>& only_unverified = {});

// Lines for people.
std::string try_text(const Advice& advice, const std::map<std::string, Series>& time_s, const TryResult& result);

}  // namespace mlrun::sweep
