// SPDX-License-Identifier: Apache-2.0
// Placement of the command's blocks (--place, --mem-kind, --pmem) and of all its memory (--mem-node and its like), runner side: checks
// the rules before the run, samples where the pages are during it, and reports after it what the processes did by the rules and where the
// pages were.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/descendant_watch.h"
#include "runner/collect/recording.h"
#include "runner/options/options.h"
#include "runner/placement/counts_area.h"
#include "runner/placement/page_sampler.h"
#include "runner/placement/rule.h"
#include "runner/placement/slot_owners.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

struct Rules {
  std::vector<placement::Rule> rules;
  std::string bytes;  // the rules encoded for the arena; empty: no rules
};

// Reads and checks the rules. file_bytes_max: the command's limit of files (ulimit -f). If that fails, the command must not run, since its memory would be elsewhere than requested.
Result<Rules> settle_placement(const RunOptions& options, const session::Installation& installation,
                               uint64_t file_bytes_max);

// The library for the environment; "": no rules.
std::string placement_library(const RunOptions& options, const session::Installation& installation);

// `placement` of session.json, at the start: the rules.
void describe_rules(nlohmann::json& session, const Rules& rules);

// `placement` of session.json for a run whose mlrun was killed: what the processes have counted, unless the session has it already.
void describe_recovered(nlohmann::json& session, mlrun_placement& area);

// Follows the processes that place blocks, and all processes of a command that has a memory policy. The latter not with rules about mappings: those
// of a process are not known at each moment, and would count as memory under the policy.
class PlacedMemory {
 public:
  // keeps_rows: each sampled page has a row in the spool, for the sites of `alloc`. Requires: `recording` outlives this.
  PlacedMemory(const Rules& rules, bool has_policy, bool keeps_rows, collect::Recording& recording);

  // Call it often: twice a second it looks for new and ended processes, and 20 times a second in the first second and while slots or caches are
  // scarce. Where that would take more than 1/500 of a CPU, it does so less often, at least every 5 s.
  void follow(uint64_t now_ns, const collect::DescendantWatch& watch);

  // Stops sampling and writes the last rows.
  void finish();

  // `placement` of session.json, at the end: what each process did by each rule, and where its pages were.
  void describe(nlohmann::json& session);

 private:
  void write_rows();
  // The processes whose pages are sampled next; gives slots and caches of ended ones back. True: these are scarce.
  bool follow_slots(std::vector<placement::HeapPlace>& heaps);
  // The oldest first. taken, inherited: slots in use, and those of them for children that inherit. True: one of both was scarce.
  bool give_back(const std::vector<placement::CountedProcess>& ended, size_t taken, size_t inherited);
  [[nodiscard]] nlohmann::json processes(const placement::FoundPages& found) const;

  placement::CountsArea area_;
  uint32_t rules_;
  bool places_mappings_, samples_processes_;
  uint64_t next_ns_ = 0;
  placement::SlotOwners owners_;
  std::map<std::string, int64_t> counters_before_;  // of the machine, at the start
  int balancing_before_;
  uint64_t often_until_ns_;
  collect::Recording& recording_;
  std::unique_ptr<placement::PageSampler> sampler_;
};

}  // namespace mlrun::commands
