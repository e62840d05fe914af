// SPDX-License-Identifier: Apache-2.0
// Asks the scheduler for short time slices for the calling thread, so that it runs at once when it wakes up.
#pragma once

namespace mlrun::rounds {

// On busy processors, a thread that wakes up may wait some milliseconds until the slice of another thread ends. Samples would then be late, and
// would miss work of the program that is shorter. Linux 6.12 and later run a thread with short slices first; no rights are needed. Has no effect
// on older kernels.
void ask_for_short_slices();

}  // namespace mlrun::rounds
