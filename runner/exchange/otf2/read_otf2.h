// SPDX-License-Identifier: Apache-2.0
// Reads OTF2 archives with the OTF2 library: regions become slices, metrics counters, messages flows. Records of other kinds are listed.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// `path`: the anchor file (traces.otf2).
Status read_otf2(const std::string& path, TraceMaker& to);

}  // namespace mlrun::exchange
