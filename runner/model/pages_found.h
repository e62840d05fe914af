// SPDX-License-Identifier: Apache-2.0
// The samples of the pages of some memory: on which nodes they were, and how much that is.
#pragma once

#include <cstdint>
#include <map>

namespace mlrun::model {

// The samples of one process and rule, of one process and file, or of one allocation site. Pages that are mapped but not in memory are on no node.
struct PagesFound {
  uint64_t samples = 0;
  int error = 0;                    // errno of the last sample that the kernel refused; 0: none
  std::map<int, uint64_t> sampled;  // pages by node, in all samples
  // The next three are about the samples that saw about the most: the rest is from when memory was filled or freed.
  double full_bytes = 0;  // what the first of these samples saw
  uint64_t full_samples = 0;
  std::map<int, double> bytes;  // estimated, added up over these samples
  uint64_t resident_bytes = 0;  // of the whole process, added up over these samples

  // Adds a sample: its pages on each node, each of which represents `bytes_each`, of a process with `resident` bytes in all.
  void add(const std::map<int, uint64_t>& on_node, double bytes_each, uint64_t resident);
  // Adds the samples of another process: the means of both are added up.
  void add(const PagesFound& other);
};

}  // namespace mlrun::model
