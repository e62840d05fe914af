// SPDX-License-Identifier: Apache-2.0
// What a record would have told that was dropped: the counter that it belongs to.
#pragma once

#include <stdint.h>

#include "runner/events/arena.h"

#pragma GCC visibility push(hidden)

// `kind`: enum mlrun_kind, of calls enum call_kind.
enum mlrun_dropped dropped_kind(uint32_t kind);

#pragma GCC visibility pop
