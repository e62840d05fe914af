// SPDX-License-Identifier: Apache-2.0
// Counts the batches that threads of one name have made, from the data files that they opened; each batch must open the same number. When the driver
// begins to wait for the threads, it has taken all batches made so far, including those that it took without a wait.
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
  // The makers are the threads of the driver's process with the name `comm`.
  StepMakers(const Timeline& timeline, int32_t driver, const std::string& comm);

  // Number of steps after each event, until the next event; 0 if the driver did not wait at the next event. std::nullopt: the threads open no files,
  // or not the same number for each batch.
  [[nodiscard]] std::optional<std::vector<size_t>> steps_after(const std::vector<StepEvent>& events) const;

  // Number of batches that the threads made in all; std::nullopt as for steps_after.
  [[nodiscard]] std::optional<size_t> batches(const std::vector<StepEvent>& events) const;

 private:
  struct Maker {
    int32_t thread_id = 0;
    std::vector<std::pair<Ns, double>> opened;  // time, files opened so far; by time
  };
  static double opened(const Maker& maker, Ns moment_ns);
  [[nodiscard]] double files_of_batch(const std::vector<StepEvent>& events) const;
  [[nodiscard]] bool is_making(int32_t thread_id, Ns moment_ns) const;
  [[nodiscard]] double made(Ns moment_ns, double files) const;

  const Timeline& timeline_;
  std::vector<Maker> makers_;
};

}  // namespace mlrun::blame
