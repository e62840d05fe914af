// SPDX-License-Identifier: Apache-2.0
// The blocks of a trace by call site. A site is a signature: build id and offset of up to 16 callers, innermost first. It is the same in
// every run of the same files; the trace's own stack ids are not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/sweep/advise/site_accesses.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct BlockLife {
  int64_t from_ns = 0, to_ns = 0;
  uint64_t bytes = 0;  // rounded up to whole pages
};

inline constexpr size_t kLabelFrames = 4;                // number of functions in a label
inline constexpr uint64_t kLeastPlacedBytes = 64 << 10;  // libc's allocator keeps smaller blocks

// A frame of a signature, to recognise it in another build.
struct FrameName {
  std::string place;     // "BUILDID+OFFSET"
  std::string function;  // as the symbols name it; empty: unknown
  std::string library;   // its file
};

struct Site {
  std::string signature;  // "BUILDID+OFFSET,..." as in a rule
  std::string label;      // functions, innermost first, for people
  std::vector<FrameName> frames;
  bool is_cut = false;  // the call stacks go on where the signature ends
  std::vector<BlockLife> lives;
  double byte_seconds = 0;
  Accesses accesses;
  double weight = 0;  // sites are ranked by it
};

struct TraceSites {
  std::vector<Site> sites;  // by weight, the largest first
  std::string ranked_by;    // what the weight measures, in words
  std::string rung;         // the mechanism of --access that it is from; empty: it is from none
  size_t unseen = 0;        // sites without access data; each is taken to be as hot as the other sites on average
  size_t blocks = 0;
  double weight = 0;  // sum over all sites
  Site elsewhere;     // all blocks without a site, which stay on the slow memory
  // Some of them: of code without a build id, and the file of the first such block (empty: of none); of cut signatures with which other
  // sites begin, and the sum of the bytes of these.
  size_t without_build_id = 0;
  std::string file_without_build_id;
  size_t cut = 0;
  uint64_t cut_bytes = 0;
};

// Reads blocks of at least `min_bytes`. Fails if the trace has no stacks. The weight of a site is bytes × time; where --access saw which
// memory is hot, hot bytes × time, or the number or latency of accesses. `run_end_ns`: when the command ended; 0: unknown.
Result<TraceSites> read_sites(const std::string& trace, uint64_t min_bytes, int64_t run_end_ns);

// Fails if there are no sites; the error says why, and what to do.
Status check_sites(const std::string& trace, uint64_t min_bytes, const TraceSites& found);

}  // namespace mlrun::sweep
