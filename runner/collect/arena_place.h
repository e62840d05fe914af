// SPDX-License-Identifier: Apache-2.0
// Chooses the place of the arena's file. Shared memory (tmpfs) is fastest, but other programs need it, above all
// PyTorch's data loaders. The arena is put there only if 1 GiB is free, and takes at most a tenth of the free space.
// Otherwise the file is in the trace folder.
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

// Places to try, best first; paths contain no comma. Empty: no place. `exact`: the user gave the arena's size, so the
// size is not reduced to fit into shared memory.
std::vector<ArenaPlace> arena_places(const std::string& trace_folder, uint64_t buffer_bytes, bool exact);

// Is this the name of an arena in shared memory (mlrun-PID-12 hexadecimal digits)?
bool is_arena_name(std::string_view name);

}  // namespace mlrun::collect
