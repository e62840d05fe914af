// SPDX-License-Identifier: Apache-2.0
// The steps of a training: from its marks, else from the batches that its loop received.
#pragma once

#include <string>
#include <vector>

#include "runner/blame/batch_list.h"
#include "runner/blame/divide.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::blame {

struct StepBounds {
  Ns start_ns = 0, end_ns = 0;
};

// Ranges of the driver, or of its process, whose names are those of steps (runner/idle/README.md, rule 9); the outermost of nested ones.
Result<std::vector<StepBounds>> steps_of_marks(const std::string& folder, const Timeline& timeline, int32_t driver);
// From batch to batch; the last one of an epoch ends where the driver waits for its workers to end, or at the next epoch's first wait.
std::vector<StepBounds> steps_of_batches(const Division& division, const std::vector<Epoch>& epochs);

// Fills step_rows, steps and steps_from.
Status find_steps(const std::string& folder, const Timeline& timeline, const Division& division, const Chain& chain,
                  summary::Answer& answer);

}  // namespace mlrun::blame
