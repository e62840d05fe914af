// SPDX-License-Identifier: Apache-2.0
// The row for a code address, from the module's .eh_frame through .eh_frame_hdr, whose table is sorted. Reads only the
// module's readable segment, whatever the tables contain.
#pragma once

#include "preload/unwind/code_modules.h"

#pragma GCC visibility push(hidden)

// Requires: `address` is code of the module.
uint32_t row_from_tables(const struct code_module *module, uint64_t address);

#pragma GCC visibility pop
