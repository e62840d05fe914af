// SPDX-License-Identifier: Apache-2.0
// A rule of --place, as read and as resolved on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/events/placement.h"

namespace mlrun::placement {

enum class Target { kDefault, kHuge, kNodes, kInterleave, kRatio, kKind, kNearGpu, kPmem };

struct Rule {
  std::string text;  // as given
  mlrun_place_calls calls = MLRUN_PLACE_MALLOC;
  uint64_t min_bytes = 0, max_bytes = UINT64_MAX;  // of the requested size, both included
  mlrun_place_role role = MLRUN_PLACE_ANY_ROLE;
  mlrun_place_site site = MLRUN_PLACE_ANY_SITE;
  std::string role_text, site_text;

  Target target = Target::kDefault;
  std::string where;             // nodes as given, name of a kind, number of a GPU
  std::vector<uint32_t> shares;  // of a ratio, in the order of the nodes
  bool strict = false, huge = false;
  bool memkind = false;       // the heap is memkind's, of budget_bytes
  uint64_t budget_bytes = 0;  // 0: no limit

  std::string remark;  // for the user: callers that cannot be recognised; empty: none

  // Resolved (resolve.h).
  std::vector<uint32_t> nodes;  // nodes of the target; empty: any node
  std::string folder;           // of the heap's file; empty: none
};

}  // namespace mlrun::placement
