// SPDX-License-Identifier: Apache-2.0
// When blocks end that are never freed: with the program that exec replaces, and with their process. A process that ended during the
// run ends at its last record.
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

  // The end of a block that this process allocated at `from_ns` and has not freed before `at_ns`.
  [[nodiscard]] int64_t of_block(int64_t process, int64_t from_ns, int64_t at_ns) const;

 private:
  std::map<int64_t, std::vector<int64_t>> moments_;  // by process, rising: its execs, and its end if that is known
};

}  // namespace mlrun::sweep
