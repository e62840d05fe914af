// SPDX-License-Identifier: Apache-2.0
// Communicators of an OTF2 archive: which location a rank is. A message names its other end by rank.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mlrun::exchange {

class Otf2Communicators {
 public:
  // Add definitions. `second`: the other group of an inter-communicator, else OTF2_UNDEFINED_GROUP.
  void add_group(OTF2_GroupRef ref, OTF2_GroupType type, OTF2_Paradigm paradigm, std::vector<uint64_t> members);
  void add(OTF2_CommRef communicator, OTF2_GroupRef first, OTF2_GroupRef second) {
    communicators_[communicator] = {first, second};
  }

  // The location of a rank, as the location `from` sees it; the rank itself where the archive does not define it.
  [[nodiscard]] OTF2_LocationRef location(OTF2_CommRef communicator, OTF2_LocationRef from, uint32_t rank);

 private:
  struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
    std::vector<uint64_t> members;
    bool is_resolved = false;  // the members are locations
  };
  const std::vector<uint64_t>& locations(OTF2_GroupRef ref);

  std::unordered_map<OTF2_GroupRef, Group> groups_;
  std::unordered_map<OTF2_Paradigm, OTF2_GroupRef> all_locations_;
  std::unordered_map<OTF2_CommRef, std::pair<OTF2_GroupRef, OTF2_GroupRef>> communicators_;  // first and second group
};

}  // namespace mlrun::exchange
