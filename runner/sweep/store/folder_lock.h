// SPDX-License-Identifier: Apache-2.0
// One sweep per folder: OUT/sweep.lock, locked by flock. A supervisor inherits the lock, so that the next sweep starts only after the
// supervisor has ended all processes of a killed sweep.
#pragma once

#include <string>

#include "runner/sweep/store/store.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

// The mark of this process.
ProcessMark own_mark();
// Whether the marked process itself, not a later one with its pid, still runs.
bool is_alive(const ProcessMark& mark);

class FolderLock {
 public:
  // Fails if another sweep has it. Waits for the supervisor of one that was killed.
  static Result<FolderLock> take(const std::string& folder);

  // For a supervisor to inherit.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  util::UniqueFd fd_;
};

}  // namespace mlrun::sweep
