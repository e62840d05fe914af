// SPDX-License-Identifier: Apache-2.0
// The time stamp in a line of an MLLOG file, against the moment at which it is written: constants that the merger and
// the sums while recording share.
#pragma once

#include <cstdint>

namespace mlrun::events {

inline constexpr int64_t kMllogStampNs = 1'000'000;  // stamps are cut to it
inline constexpr int64_t kMllogSlackNs = 50'000;     // two readings of the clocks agree to it

}  // namespace mlrun::events
