// SPDX-License-Identifier: Apache-2.0
// The kinds of records that CUPTI delivers to us. They are switched on at the start, off while another tool uses CUPTI,
// and on again after that.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Returns 0, or CUPTI's error if it refuses a required kind; *refused is then the kind's name. The refusal of an
// optional kind is recorded as a note.
int switch_kinds_on(const char **refused);

// Switches off all our kinds except those in `kept`, a bit for each kind.
void switch_kinds_off(uint64_t kept);

// Makes CUPTI report the devices. It reports them by itself during cuInit, where our kinds are switched on, perhaps too
// late. Works once. False: this was called before, or CUPTI refuses or lacks the function.
bool ask_for_devices(void);

// A bit for each kind that we switch on.
uint64_t wanted_kinds(void);

#pragma GCC visibility pop
