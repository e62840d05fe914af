// SPDX-License-Identifier: Apache-2.0
// Which thread drives the run, and which one takes over.
#pragma once

#include <cstdint>

#include "runner/blame/pieces.h"
#include "runner/blame/timeline/timeline.h"
#include "runner/blame/wait_ends.h"

namespace mlrun::blame {

// The main thread of the lowest rank, else of the command; 0: there is none. `wanted_tid`: 0, or the thread that the user names.
[[nodiscard]] int32_t find_driver(const Timeline& timeline, int32_t wanted_tid);

// The thread that drives while this one waits: it lived mostly in the wait and ended with it. A trainer in a thread that is joined, ranks that
// mp.spawn started, a command behind `bash -c`. 0: none.
[[nodiscard]] int32_t find_heir(const Timeline& timeline, int32_t thread_id, const Wait& wait);

// Whether the thread is of another rank than the driver: by the launcher's numbers, or a process with the same command that the same parent
// started, as mp.spawn does.
[[nodiscard]] bool is_of_other_rank(const Timeline& timeline, int32_t driver, int32_t thread_id);

// Whether the chain ends at a socket of the driver's own process to another machine, and the run has ranks that this trace lacks: mostly
// they are what it waits for. Data from a server look the same.
[[nodiscard]] bool is_for_ranks_elsewhere(const Timeline& timeline, int32_t driver, const Piece& piece);

}  // namespace mlrun::blame
