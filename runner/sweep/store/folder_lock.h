// SPDX-License-Identifier: Apache-2.0
// One sweep per folder: OUT/sweep.lock, locked by flock. A supervisor inherits the lock, so that what a killed sweep left behind
// is gone before another one starts.
#pragma once

#include <string>

#include "runner/sweep/store/store.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

// This process.
ProcessMark own_mark();
// Is it this very process, and has it not ended?
bool is_alive(const ProcessMark& mark);

class FolderLock {
 public:
  // Fails if another sweep has it. Waits for the supervisor of one that was killed.
  static Result<FolderLock> take(const std::string& folder);

  // To be inherited by a supervisor.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  util::UniqueFd fd_;
};

}  // namespace mlrun::sweep
