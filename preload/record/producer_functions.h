// SPDX-License-Identifier: Apache-2.0
// What other injected libraries of this process record through (runner/events/producer.h).
#pragma once

#pragma GCC visibility push(hidden)

// Tells the other libraries that the image ends.
void tell_end(void);

#pragma GCC visibility pop
