// SPDX-License-Identifier: Apache-2.0
// The steps of a training. They come from its marks; without marks, from batches that worker processes sent to the loop; without workers, from the
// pattern in which the loop gets data and computes. Without marks and a DataLoader's workers, Python loops in samples may correct or replace them.
#pragma once

#include <string>
#include <vector>

#include "runner/blame/batch_list.h"
#include "runner/blame/divide.h"
#include "runner/blame/step_pattern.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// Steps from ranges (marks) of the driver or its process that have a step's name (runner/idle/README.md, rule 9). Only the outermost of nested ranges
// count.
Result<std::vector<StepBounds>> steps_of_marks(const std::string& folder, const Timeline& timeline, int32_t driver);
// A step lasts from one batch to the next. The last step of an epoch ends where the driver waits for its workers to end, or at the next epoch's first
// wait.
std::vector<StepBounds> steps_of_batches(const Division& division, const std::vector<Epoch>& epochs);

// Whether the driver takes results of a multiprocessing.Pool that sends several results in a message. Messages are no steps then.
[[nodiscard]] bool takes_chunks(const Timeline& timeline, int32_t driver);

// Fills step_rows, steps, steps_from and steps_sure_ppm of the answer.
Status find_steps(const std::string& folder, const Timeline& timeline, const Division& division, Divider& divider,
                  summary::Answer& answer);

}  // namespace mlrun::blame
