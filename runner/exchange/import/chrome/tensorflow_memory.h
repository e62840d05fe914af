// SPDX-License-Identifier: Apache-2.0
// memory_profile.json of TensorFlow's profiler: snapshots of each allocator, each with an allocation or release and the sizes after it.
// Snapshots become counters and rows of import_event, all other members of the file become metadata.
#pragma once

#include <string>
#include <string_view>

#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

Status read_tensorflow_memory(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_tensorflow_memory(std::string_view text);

}  // namespace mlrun::exchange
