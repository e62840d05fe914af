// SPDX-License-Identifier: Apache-2.0
// The file that `mlrun advise --apart` writes: a rule for --place for each of the largest call sites. Each rule has mappings of its own, so --access by
// accessed bits, which are read by mapping, and the sampled pages, which are counted by rule, are then by site. No rule names a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/advise/named_sites.h"
#include "runner/sweep/advise/trace_sites.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct ApartSites : NamedSites {  // in a new file the first one has the most bytes × time
  std::string trace;
  uint64_t min_bytes = 0;  // smallest block that a rule places
  // The share of these sites in the bytes × time of all blocks of at least min_bytes. Not in the file.
  double share = 0;
};

// At most `count` sites. They are ranked by bytes × time, also where the trace has accesses: which site is hot is still to be measured.
ApartSites largest_sites(const std::string& trace, uint64_t min_bytes, const TraceSites& found, size_t count);

std::string apart_text(const ApartSites& apart);

// Reads a file that apart_text() wrote. nullopt: `mlrun advise` wrote it without --apart, or did not write it.
Result<std::optional<ApartSites>> read_apart(const std::string& path);

// After find_in_other_builds(): a block is of the first rule whose signature its callers begin with, so a signature that begins with another one goes
// before that. Equal signatures, as those of two calls in one function, can have only one rule. Returns the labels of the sites that are left out.
std::vector<std::string> sort_out_alike(ApartSites& apart);

// Lines for people: what `file` has, and the command that uses it.
std::string apart_summary_text(const ApartSites& apart, const TraceSites& found, const std::string& file);

}  // namespace mlrun::sweep
