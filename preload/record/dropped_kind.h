// SPDX-License-Identifier: Apache-2.0
// The counter for a dropped record, by what the record would have contained.
#pragma once

#include <stdint.h>

#include "runner/events/arena.h"

#pragma GCC visibility push(hidden)

// `kind`: enum mlrun_kind; for calls enum call_kind.
enum mlrun_dropped dropped_kind(uint32_t kind);

#pragma GCC visibility pop
