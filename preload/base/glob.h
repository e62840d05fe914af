// SPDX-License-Identifier: Apache-2.0
// Shell patterns on paths (runner/events/path_rules.h says what they mean). Needs nothing, allocates nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// `bytes` bytes at `path`, or the path of one of the folders it names. The pattern ends with a 0.
bool glob_matches(const char *pattern, const char *path, size_t bytes);

#pragma GCC visibility pop
