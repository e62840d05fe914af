// SPDX-License-Identifier: Apache-2.0
// Chooses the place of the arena's file. Shared memory (tmpfs) is fastest, but other programs depend on it, above all
// PyTorch's data loaders: it is used only if it has 1 GiB free, and then at most a tenth of that. Else the trace
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::collect {

inline constexpr const char* kSharedMemoryFolder = "/dev/shm";
inline constexpr const char* kArenaFile = "arena.bin";  // in a trace folder

struct ArenaPlace {
  std::string path;
  std::string medium;  // "tmpfs" or "file"
  uint32_t segment_count = 0;
};

// Places to try, best first; paths contain no comma. Empty: no place. `exact`: the user gave the size, so it is not
// reduced to fit into shared memory.
std::vector<ArenaPlace> arena_places(const std::string& trace_folder, uint64_t buffer_bytes, bool exact);

// Is this the name of an arena in shared memory (mlrun-PID-12 hexadecimal digits)?
bool is_arena_name(std::string_view name);

}  // namespace mlrun::collect
