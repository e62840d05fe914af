// SPDX-License-Identifier: Apache-2.0
// memory_profile.json of TensorFlow's profiler: for each allocator snapshots, each with an allocation or release and the sizes after it. They
// become counters and rows of import_event; what else the file has is metadata.
#pragma once

#include <string>
#include <string_view>

#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

Status read_tensorflow_memory(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_tensorflow_memory(std::string_view text);

}  // namespace mlrun::exchange
