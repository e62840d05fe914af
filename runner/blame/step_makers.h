// SPDX-License-Identifier: Apache-2.0
// How many batches the threads of one name have made: from the data files that they open, as many for each batch. When the driver begins to
// wait for them it has taken all that were made, however many of those it took without a wait.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/blame/step_events.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

class StepMakers {
 public:
  // Threads of the driver's process with this name.
  StepMakers(const Timeline& timeline, int32_t driver, const std::string& comm);

  // How many steps each stretch after an event has, until the next one; 0 where the driver did not wait at the next one. Nothing: the threads
  // open no files, or not always as many.
  [[nodiscard]] std::optional<std::vector<size_t>> steps_after(const std::vector<StepEvent>& events) const;

  // How many they made in all. Nothing: as above.
  [[nodiscard]] std::optional<size_t> batches(const std::vector<StepEvent>& events) const;

 private:
  struct Maker {
    int32_t thread_id = 0;
    std::vector<std::pair<Ns, double>> opened;  // by time: files so far
  };
  static double opened(const Maker& maker, Ns moment_ns);
  [[nodiscard]] double files_of_batch(const std::vector<StepEvent>& events) const;
  [[nodiscard]] bool is_making(int32_t thread_id, Ns moment_ns) const;
  [[nodiscard]] double made(Ns moment_ns, double files) const;

  const Timeline& timeline_;
  std::vector<Maker> makers_;
};

}  // namespace mlrun::blame
