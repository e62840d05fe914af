// SPDX-License-Identifier: Apache-2.0
// Samples on which nodes pages are, from outside the traced processes: 0.1, 0.3, 0.7 and 1.5 s after the start, then once a second. Up to 1,024 pages
// of each rule and process, evenly over the mapped part of the rule's heap and the mappings that it placed, without what the program may not access
// (reservations); with a policy for the whole command also of the private anonymous memory of each process that no rule places, and 256 pages of
// each of its 16 largest mapped files. Where little is resident, it asks for up to eight times as many. Where there are many processes, they take
// turns. It also finds processes without the rules.
// It takes 0.06 % of a CPU for each rule and process; where it would take more than 1 % in all, samples are fewer. With 1,024 resident
// pages, shares are within 3 percentage points in 95 % of the samples.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runner/events/page_sample.h"
#include "runner/events/placement.h"
#include "runner/model/pages_found.h"
#include "runner/placement/process_memory.h"

namespace mlrun::placement {

// A mapping of the program that a rule has placed.
struct PlacedMapping {
  uint32_t rule = 0;
  uint64_t start = 0, end = 0;
};

// Where the heaps of one process are. `number`: that of the process in the arena (events/placement.h).
struct HeapPlace {
  uint32_t number = 0, pid = 0;
  uint64_t window = 0, window_bytes = 0;
  std::vector<PlacedMapping> mappings;  // the newest first
  uint32_t vdso_page = 0;               // of struct mlrun_place_slot
};

using model::PagesFound;
using PageRows = std::vector<mlrun_page_sample>;

struct FoundPages {
  std::map<std::pair<uint32_t, uint32_t>, PagesFound> by_number_and_rule;
  // By pid and mapped file, for memory without one "". Shared memory is one file (model::Placement::kSharedMemory). pid 0: ended processes.
  std::map<std::pair<uint32_t, std::string>, PagesFound> by_process_and_file;
  std::set<uint32_t> left_out;  // pids of processes with a file for which the latter had no room
  size_t ended_left_out = 0;    // how many of them have ended, and are no longer in left_out
  size_t files_elsewhere = 0;   // entries of by_process_and_file that this part of all samples lacks
  // By pid: how often in a row a process had no placement library. Once may be a moment in which it loads its libraries.
  std::map<uint32_t, uint32_t> without_library;

  // Processes that had no placement library for as long as they were seen.
  [[nodiscard]] size_t count_without_rules() const;

  // Has room for samples of this file: at most 4,096 files with pages in memory are kept, of all processes.
  [[nodiscard]] bool has_room(uint32_t pid, const std::string& file) const;

  // Adds what was found of these processes up under number 0. So memory is bounded by the processes that have slots.
  void sum_up(const std::set<uint32_t>& numbers);

  // Once more than 2,048 entries by process and file are kept: adds the smallest of processes that are not `alive` up under pid 0, all their files
  // as one (model::Placement::kOtherFiles). So memory is bounded by the processes that are alive at once.
  void sum_up_ended(const std::vector<uint32_t>& alive);

  // The samples of these numbers and pids alone; and takes them back, except those of `summed` numbers.
  [[nodiscard]] FoundPages part(const std::set<uint32_t>& numbers, const std::set<uint32_t>& pids) const;
  void take(FoundPages part, const std::set<uint32_t>& summed);
};

// Addresses of up to `most` pages of these spans, evenly: divides all their pages into as many equal parts and chooses one at random in
// each.
std::vector<uint64_t> choose_pages(const std::vector<Span>& spans, size_t most);

// Cuts off what newer mappings cover; mappings of which nothing is left are not returned. Requires: the newest come first.
std::vector<PlacedMapping> newest(const std::vector<PlacedMapping>& mappings);

// What is sampled until the next call of set_targets().
struct SampledMemory {
  std::vector<HeapPlace> heaps;
  std::vector<uint32_t>
      processes;  // pids of processes under a policy for the whole command, of which no rule places mappings
  std::vector<uint32_t> alive;  // pids of all processes; empty: no rules
};

class PageSampler {
 public:
  // `rules`: the number of rules that share the window of a process. `arena`: mlrun's buffer, which is not sampled. `keeps_rows`: a row for each page
  // without a file is kept for fetch().
  PageSampler(uint32_t rules, const std::string& arena, bool keeps_rows = false);
  ~PageSampler();
  PageSampler(const PageSampler&) = delete;
  PageSampler& operator=(const PageSampler&) = delete;

  void set_targets(SampledMemory targets);

  // These processes have ended: their samples become a part of those of number 0.
  void sum_up(const std::set<uint32_t>& numbers);

  // The rows since the last call, in order of time. A sample has all of its rows or none: at most about a million wait here.
  PageRows fetch();

  // Stops sampling and returns what was found. `problem`: why there was no sampling, or none after some time; else empty.
  FoundPages finish(std::string& problem);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the sampling thread, which may be inside a call
};

}  // namespace mlrun::placement
