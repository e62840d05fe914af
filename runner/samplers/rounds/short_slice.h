// SPDX-License-Identifier: Apache-2.0
// Short turns on the processor for the calling thread, so that it gets one at once when it wakes up.
#pragma once

namespace mlrun::rounds {

// Where all processors are busy, a thread that wakes up may wait until the turn of another one ends, some milliseconds. Its samples would
// come too late, and too seldom from what takes less. A thread that asks for short turns comes first (Linux 6.12 and later; no right is needed).
// Elsewhere it changes nothing.
void ask_for_short_slices();

}  // namespace mlrun::rounds
