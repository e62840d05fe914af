// SPDX-License-Identifier: Apache-2.0
// Finds the driver, the thread that trains, and the thread that drives while the driver only waits for it.
#pragma once

#include <cstdint>

#include "runner/blame/pieces.h"
#include "runner/blame/timeline/timeline.h"
#include "runner/blame/wait_ends.h"

namespace mlrun::blame {

// Returns the thread with the Linux id `wanted_tid`; several have it, for instance before and after an exec: the one that lived longest. If
// `wanted_tid` is 0: the main thread of the lowest rank, else that of the command. 0: no such thread.
[[nodiscard]] int32_t find_driver(const Timeline& timeline, int32_t wanted_tid);

// Returns the thread that drives during this wait: it lived mostly within the wait and ended together with it. Examples: a trainer in a thread that
// is joined, ranks that mp.spawn started, a command run by `bash -c`. 0: none.
[[nodiscard]] int32_t find_heir(const Timeline& timeline, int32_t thread_id, const Wait& wait);

// Whether the thread belongs to another rank than the driver: their rank numbers differ, or, as with mp.spawn, both processes have the same parent
// and, apart from numbers in it, the same command.
[[nodiscard]] bool is_of_other_rank(const Timeline& timeline, int32_t driver, int32_t thread_id);

// Whether the chain ends at a socket of the driver's own process to another machine while the run has ranks that this trace lacks. The driver then
// mostly waits for those ranks, but a data server would look the same.
[[nodiscard]] bool is_for_ranks_elsewhere(const Timeline& timeline, int32_t driver, const Piece& piece);

}  // namespace mlrun::blame
