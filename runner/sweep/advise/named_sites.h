// SPDX-License-Identifier: Apache-2.0
// Call sites as a file for --place has them: signatures in its rules, and the names by which people and another build know them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/sweep/advise/trace_sites.h"

namespace mlrun::sweep {

struct NamedSites {
  std::vector<std::string> signatures, labels;
  std::vector<FrameName> frames;  // of these signatures, to recognise them in another build

  void add(const Site& site);
};

// A [[rule]] for blocks of `min_bytes` and more of the sites from `begin` to before `end`, without its target.
std::string site_rule_text(const NamedSites& sites, size_t begin, size_t end, uint64_t min_bytes);

// The tables [advice.functions] and [advice.libraries], since another build has other offsets. A stripped file has no names, but it is known when it
// is another build.
std::string names_text(const NamedSites& sites);

}  // namespace mlrun::sweep
