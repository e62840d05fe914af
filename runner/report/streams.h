// SPDX-License-Identifier: Apache-2.0
// Which streams a run recorded, which requested ones were unavailable, and which were off: from run.json only.
#pragma once

#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::summary {

enum class StreamState {
  kOn,
  kNotAvailable,  // requested, but not recorded
  kOff
};

struct Stream {
  const char* name;    // in run.json: /options/streams
  const char* text;    // for people
  const char* option;  // that turns it on, if not implied by its name
  StreamState state = StreamState::kOff;
  bool asked = false;  // its option was given
  std::string reason;  // of kNotAvailable; empty: unknown
};

// All streams in display order; empty if run.json has no streams.
[[nodiscard]] std::vector<Stream> streams(const model::Run& run);

}  // namespace mlrun::summary
