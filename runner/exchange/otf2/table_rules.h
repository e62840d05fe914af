// SPDX-License-Identifier: Apache-2.0
// Where the rows of each table go in an OTF2 archive.
#pragma once

#include <otf2/otf2.h>

#include <span>
#include <string>
#include <vector>

#include "runner/exchange/otf2/tracks.h"

namespace mlrun::exchange {

struct Otf2Rule {
  enum class What : uint8_t { kRegion, kSample, kValues };

  const char* table;
  What what;
  Otf2TrackKind place;
  const char* name;  // kRegion: the column with the region's name; nullptr: the table's name
  OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  std::vector<const char*> keys = {};  // numbers that determine the location, at most three; kValues: also texts
};

// Tables whose rows enclose those of others come first.
[[nodiscard]] std::span<const Otf2Rule> otf2_rules();

// Whether the location or region determines the column's value, so that the event needs no attribute for it.
[[nodiscard]] bool is_of_place(const Otf2Rule& rule, const std::string& column);

}  // namespace mlrun::exchange
