// SPDX-License-Identifier: Apache-2.0
// Samples on which nodes the pages of placed blocks are, from outside the traced processes: once a second up to 1,024 pages of each rule
// and process, evenly over the mapped part of the rule's heap and the mappings that it placed. Where there are many processes, they take
// turns. It takes 0.06 % of a CPU for each rule and process. With 1,024 resident pages, shares are within 3 percentage points in 95 % of
// the samples.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/events/placement.h"

namespace mlrun::placement {

// A mapping of the program that a rule has placed.
struct PlacedMapping {
  uint32_t rule = 0;
  uint64_t start = 0, end = 0;
};

// Where the heaps of one process are. `slot`: its slot in the arena (events/placement.h).
struct HeapPlace {
  uint32_t slot = 0;
  int pid = 0;
  uint64_t window = 0, window_bytes = 0;
  std::vector<PlacedMapping> mappings;  // the newest first
};

// The samples of one slot and rule. Pages that are mapped but not in memory are on no node.
struct PagesFound {
  uint64_t samples = 0;
  std::map<int, uint64_t> sampled;  // pages by node, in all samples
  std::map<int, double> bytes;      // estimated, added up over the samples
  uint64_t resident_bytes = 0;      // of the whole process, added up over the samples
};

using FoundBySlotAndRule = std::map<std::pair<uint32_t, uint32_t>, PagesFound>;

// Takes one sample of a process. `rules`: the number of rules that share the window. Does nothing if the process has ended or we may
// not look at it.
void sample_pages(const HeapPlace& place, uint32_t rules, FoundBySlotAndRule& found);

class PageSampler {
 public:
  explicit PageSampler(uint32_t rules);
  ~PageSampler();
  PageSampler(const PageSampler&) = delete;
  PageSampler& operator=(const PageSampler&) = delete;

  // Sets the processes to sample, until the next call.
  void set_places(std::vector<HeapPlace> places);

  // Stops sampling and returns what was found. `problem`: why there was no sampling; else empty.
  FoundBySlotAndRule finish(std::string& problem);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the sampling thread, which may be inside a call
  std::string problem_;
};

}  // namespace mlrun::placement
