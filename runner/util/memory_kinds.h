// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of memory, for --place, --mem-kind, their help and doctor. Their nodes: runner/placement/kinds.h.
#pragma once

#include <array>
#include <string>

#include <fmt/format.h>

namespace mlrun::util {

inline constexpr auto kMemoryKinds =
    std::to_array<const char*>({"dax-kmem", "highest-capacity", "lowest-latency", "hbw", "regular"});

inline std::string memory_kind_names() { return fmt::format("{}", fmt::join(kMemoryKinds, ", ")); }

}  // namespace mlrun::util
