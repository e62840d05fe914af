// SPDX-License-Identifier: Apache-2.0
// The end of memory blocks that are never freed: the next exec of their process, or the end of the process. A process that ended during
// the run is taken to end at its last record.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::sweep {

class ProcessEnds {
 public:
  static Result<ProcessEnds> read(const std::string& trace);

  // The last record of any process; 0: none.
  [[nodiscard]] int64_t latest_ns() const { return latest_ns_; }

  // The end of a block that this process allocated at `from_ns` and has not freed before `at_ns`.
  [[nodiscard]] int64_t of_block(int64_t process, int64_t from_ns, int64_t at_ns) const;

 private:
  std::map<int64_t, std::vector<int64_t>> moments_;  // by process, rising: its execs, and its end if that is known
  int64_t latest_ns_ = 0;
};

}  // namespace mlrun::sweep
