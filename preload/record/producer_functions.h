// SPDX-License-Identifier: Apache-2.0
// Functions through which other injected libraries of this process record (runner/events/producer.h).
#pragma once

#pragma GCC visibility push(hidden)

// Notifies the other libraries that the image ends.
void record_end(void);

#pragma GCC visibility pop
