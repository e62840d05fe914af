// SPDX-License-Identifier: Apache-2.0
// The rungs of --access by name: in the option, in run.json and in tables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runner/events/access_sample.h"

namespace mlrun::util {

// By number; 0 is none.
inline constexpr std::array<const char*, MLRUN_ACCESS_RUNGS> kAccessRungNames = {
    "unknown", "precise", "hint-faults", "cold", "clear-refs", "damon", "soft-dirty", "faults"};
static_assert(kAccessRungNames.back() != nullptr);

// "unknown" for a rung of a later version.
inline const char* access_rung_name(uint16_t rung) { return kAccessRungNames[rung < MLRUN_ACCESS_RUNGS ? rung : 0]; }

// 0: there is none of this name.
inline uint16_t access_rung_of(std::string_view name) {
  for (uint16_t rung = 1; rung < MLRUN_ACCESS_RUNGS; ++rung) {
    if (name == kAccessRungNames[rung]) return rung;
  }
  return 0;
}

// Whether the rung records single accesses; the others record ranges of memory, one window of time after another.
constexpr bool records_events(uint16_t rung) {
  return rung == MLRUN_ACCESS_PRECISE || rung == MLRUN_ACCESS_HINT_FAULTS || rung == MLRUN_ACCESS_FAULTS;
}

}  // namespace mlrun::util
