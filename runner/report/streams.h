// SPDX-License-Identifier: Apache-2.0
// Which streams a run recorded, which of those that were wanted did not work, and which were off: by run.json alone.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::summary {

enum class StreamState {
  kOn,
  kNotAvailable,  // wanted, and not recorded
  kOff
};

struct Stream {
  const char* name;    // in run.json: /options/streams
  const char* text;    // for people
  const char* option;  // that turns it on, where more than its name is needed
  StreamState state = StreamState::kOff;
  bool asked = false;  // its option was given
  std::string reason;  // of kNotAvailable; empty: not known
};

// All that there are, in the order in which they are shown; none where run.json says nothing of streams.
[[nodiscard]] std::vector<Stream> streams(const nlohmann::json& run);

}  // namespace mlrun::summary
