// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and the like, which end a sweep between two steps instead of in the middle of one. Children start with the signals as
// they were before.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>

#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

class StopSignals {
 public:
  StopSignals();   // blocks them
  ~StopSignals();  // as before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Readable when one has come.
  [[nodiscard]] int fd() const { return fd_.get(); }
  // The one that came, if any; remembers it.
  std::optional<int> taken();
  // Waits this long, or until one comes. True: one has come.
  bool wait(uint64_t ns);

 private:
  sigset_t before_{};
  util::UniqueFd fd_;
  std::optional<int> taken_;
};

// For a process that is started meanwhile: no signal is blocked that was not before.
sigset_t mask_of_children();

}  // namespace mlrun::sweep
