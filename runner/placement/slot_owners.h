// SPDX-License-Identifier: Apache-2.0
// Which process of this machine a slot for counts is of, and whether it has surely ended.
//
//   pid and namespace, as the process sees them ─┬─ mlrun's namespace ─────────▶ pid ─▶ by its start time: still the same process?
//                                                └─ another: search all of /proc ─┬─▶ pid ─▶ the same
//                                                                                 └─▶ in none: it has ended
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/placement/counts_area.h"

namespace mlrun::placement {

struct Owner {
  uint32_t host_pid = 0;  // 0: not found
  uint64_t start_ticks = 0;
  bool ended = false;  // surely: it counts no more
  bool is_sampled = false;
  uint32_t searches = 0;  // that were in vain
};

class SlotOwners {
 public:
  explicit SlotOwners(std::string proc = "/proc");

  // Looks at these processes, the oldest first, and forgets all others. A search that takes more than `most_ns` goes on in the next call.
  void look(const std::vector<CountedProcess>& processes, uint64_t most_ns);

  // nullptr: nothing can be known, because its pid or namespace is unknown, or it is the sum.
  [[nodiscard]] const Owner* of(const CountedProcess& process) const;

 private:
  void begin_search(const std::vector<CountedProcess>& processes);
  void search(uint64_t most_ns);
  void compare(uint32_t host_pid);
  void end_search();
  void check(Owner& owner) const;
  [[nodiscard]] std::string folder_of(uint32_t host_pid) const;

  std::string proc_;
  uint64_t own_namespace_;
  std::map<uint32_t, Owner> owners_;  // by number
  // The search that is under way.
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> sought_;  // numbers by pid and namespace
  std::vector<uint32_t> host_pids_;                                        // all, when it began
  size_t next_ = 0;
  bool is_whole_ = false;      // no process was hidden
  std::set<uint32_t> unsure_;  // pids as seen by processes whose namespace could not be read
};

}  // namespace mlrun::placement
