// SPDX-License-Identifier: Apache-2.0
// The command line of `mlrun advise`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runner/options/cli.h"
#include "runner/sweep/advise/spread.h"
#include "runner/util/id_list.h"

namespace mlrun::sweep {

struct AdviseOptions {
  std::string source;      // a trace, or a file that `mlrun advise` wrote
  bool is_file = false;    // `source` is such a file
  size_t apart_sites = 0;  // at most so many sites get a rule each, and no memory is chosen; 0: memory is chosen
  std::string fast, slow;  // targets of rules
  uint64_t capacity_bytes = 0;
  uint64_t fast_bytes = 0;  // memory of the fast nodes; 0: huge pages, or unknown
  NodeSpread spread;
  std::string output, calibration, trial;  // file, folders of sweeps; empty: none
  std::string figure;                      // what is compared: "wall" or "cpu" time
  int64_t blocks = 0;
  bool quiet = false;
};

// The slow nodes unless --slow names them: all with memory that the cpuset allows, without `fast`. `system`, `proc`: /sys and /proc, but for tests.
util::IdList nodes_beside(const util::IdList& fast, const std::string& system = "/sys",
                          const std::string& proc = "/proc");

// nullopt: the help has been printed. Checks that the nodes exist.
Result<std::optional<AdviseOptions>> parse_advise(const Arguments& arguments);

}  // namespace mlrun::sweep
