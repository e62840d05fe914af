// SPDX-License-Identifier: Apache-2.0
// The row for an address of code, from the module's .eh_frame by way of .eh_frame_hdr, whose table is sorted. Nothing
// outside the module's readable segment is looked at, whatever the tables say.
#pragma once

#include "preload/unwind/code_modules.h"

#pragma GCC visibility push(hidden)

// Requires: `address` is code of the module.
uint32_t row_from_tables(const struct code_module *module, uint64_t address);

#pragma GCC visibility pop
