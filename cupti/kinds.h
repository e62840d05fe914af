// SPDX-License-Identifier: Apache-2.0
// Which records CUPTI is asked for: switched on at the start, off while another tool has CUPTI, and on again after it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// CUPTI's answer: 0, or why there can be no recording; *refused is the kind that it refused then. A kind that a recording
// can do without is told of in a note when it is refused.
int switch_kinds_on(const char **refused);

// All but those in `kept`, a bit for each kind.
void switch_kinds_off(uint64_t kept);

// CUPTI tells of devices where CUDA starts, and our kinds go on within that: where that was too late it tells of them now, once.
// False: it did before, or is not able to.
bool ask_for_devices(void);

// A bit for each kind that is switched on.
uint64_t wanted_kinds(void);

#pragma GCC visibility pop
