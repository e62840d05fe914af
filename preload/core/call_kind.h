// SPDX-License-Identifier: Apache-2.0
// The kinds of call records by name, KIND_read and so on, generated from the table of hooked functions.
#pragma once

#include "runner/events/record.h"

enum call_kind {
#define FUNCTION(number, name, ...) KIND_##name = MLRUN_CALL + (number),
#define HANDMADE(number, name, ...) KIND_##name = MLRUN_CALL + (number),
#define ROW(number, name, ...)      KIND_##name = MLRUN_CALL + (number),
#include "runner/events/hooks.def"
};
