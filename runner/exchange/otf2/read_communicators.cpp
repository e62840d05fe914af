// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/read_communicators.h"

#include <algorithm>

namespace mlrun::exchange {

void Otf2Communicators::add_group(OTF2_GroupRef ref, OTF2_GroupType type, OTF2_Paradigm paradigm,
                                  std::vector<uint64_t> members) {
  groups_[ref] = {type, paradigm, std::move(members), type != OTF2_GROUP_TYPE_COMM_GROUP};
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) all_locations_[paradigm] = ref;
}

// The locations of a group, by rank. The members of a group of ranks are indexes in the paradigm's group of all locations.
const std::vector<uint64_t>& Otf2Communicators::locations(OTF2_GroupRef ref) {
  Group& group = groups_[ref];
  if (group.is_resolved) return group.members;
  group.is_resolved = true;
  const auto all = all_locations_.find(group.paradigm);
  const std::vector<uint64_t> places =
      all == all_locations_.end() ? std::vector<uint64_t>() : groups_[all->second].members;
  for (uint64_t& member : group.members) {
    if (member >= places.size()) {  // the archive is not valid
      group.members.clear();
      break;
    }
    member = places[member];
  }
  return group.members;
}

OTF2_LocationRef Otf2Communicators::location(OTF2_CommRef communicator, OTF2_LocationRef from, uint32_t rank) {
  const auto found = communicators_.find(communicator);
  if (found == communicators_.end()) return rank;
  const auto [first, second] = found->second;
  if (groups_[first].type == OTF2_GROUP_TYPE_COMM_SELF) return from;
  const std::vector<uint64_t>* members = &locations(first);
  const bool is_between_groups = second != OTF2_UNDEFINED_GROUP;
  if (is_between_groups && std::find(members->begin(), members->end(), from) != members->end())
    members = &locations(second);
  return rank < members->size() ? (*members)[rank] : rank;
}

}  // namespace mlrun::exchange
