// SPDX-License-Identifier: Apache-2.0
// The time that a line of an MLLOG file tells, against the moment at which it is written: what the merger and the sums
// while recording have to agree on.
#pragma once

#include <cstdint>

namespace mlrun::events {

inline constexpr int64_t kMllogStampNs = 1'000'000;  // times are cut to it
inline constexpr int64_t kMllogSlackNs = 50'000;     // two looks at the clocks agree to it

}  // namespace mlrun::events
