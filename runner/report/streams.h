// SPDX-License-Identifier: Apache-2.0
// Which streams a run recorded, which requested ones were unavailable, and which were off. Reads run.json only.
#pragma once

#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::report {

enum class StreamState {
  kOn,
  kNotAvailable,  // requested, but not recorded
  kOff
};

struct Stream {
  const char* name;    // as in the list /options/streams of run.json
  const char* text;    // name in the report
  const char* option;  // option that turns the stream on; empty: part of --preload, on by default
  StreamState state = StreamState::kOff;
  bool asked = false;  // the user gave the stream's option
  std::string reason;  // of kNotAvailable: why; empty: unknown
};

// All streams in display order; empty if run.json has no streams.
[[nodiscard]] std::vector<Stream> streams(const model::Run& run);

}  // namespace mlrun::report
