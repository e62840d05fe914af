// SPDX-License-Identifier: Apache-2.0
// How precise the time stamp of a line in an MLLOG file is: constants that the merger and the sums of --summary-only
// share.
#pragma once

#include <cstdint>

namespace mlrun::events {

inline constexpr int64_t kMllogStampNs = 1'000'000;  // stamps are cut to a multiple of this
inline constexpr int64_t kMllogSlackNs = 50'000;     // two readings of the clocks differ by at most this

}  // namespace mlrun::events
