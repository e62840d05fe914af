// SPDX-License-Identifier: Apache-2.0
// The steps of a training: from its marks, else from the batches that its loop received from worker processes, else from the pattern in which
// it gets data and computes.
#pragma once

#include <string>
#include <vector>

#include "runner/blame/batch_list.h"
#include "runner/blame/divide.h"
#include "runner/blame/step_pattern.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// Ranges of the driver, or of its process, whose names are those of steps (runner/idle/README.md, rule 9); the outermost of nested ones.
Result<std::vector<StepBounds>> steps_of_marks(const std::string& folder, const Timeline& timeline, int32_t driver);
// From batch to batch; the last one of an epoch ends where the driver waits for its workers to end, or at the next epoch's first wait.
std::vector<StepBounds> steps_of_batches(const Division& division, const std::vector<Epoch>& epochs);

// Whether the driver takes results of a multiprocessing.Pool that come several in a message: messages are no steps then.
[[nodiscard]] bool takes_chunks(const Timeline& timeline, int32_t driver);

// Fills step_rows, steps, steps_from and steps_sure_ppm.
Status find_steps(const std::string& folder, const Timeline& timeline, const Division& division, Divider& divider,
                  summary::Answer& answer);

}  // namespace mlrun::blame
