// SPDX-License-Identifier: Apache-2.0
// Holds a forked child back until its parent has done what must precede the child's program. The death of the parent
// releases it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class StartGate {
 public:
  // If no descriptors are available, the child does not wait.
  StartGate() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    waits_.reset(ends[0]);
    opens_.reset(ends[1]);
  }

  // In the child.
  void wait() {
    opens_.reset();
    char none = 0;
    while (::read(waits_.get(), &none, sizeof none) < 0 && errno == EINTR) {
    }
  }

  // In the parent.
  void open() { opens_.reset(); }

 private:
  util::UniqueFd waits_, opens_;
};

}  // namespace mlrun::launch
