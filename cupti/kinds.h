// SPDX-License-Identifier: Apache-2.0
// Which records CUPTI delivers: switched on at the start, off while another tool has CUPTI, and on again after it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// CUPTI's answer: 0, or why nothing can be recorded; *refused is then the kind that it refused. The refusal of an
// optional kind is recorded as a note.
int switch_kinds_on(const char **refused);

// All but those in `kept`, a bit for each kind.
void switch_kinds_off(uint64_t kept);

// CUPTI reports devices where CUDA starts, and our kinds go on within that: if they were too late, CUPTI reports the
// devices now, once. False: it did before, or cannot.
bool ask_for_devices(void);

// A bit for each kind that is switched on.
uint64_t wanted_kinds(void);

#pragma GCC visibility pop
