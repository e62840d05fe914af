// SPDX-License-Identifier: Apache-2.0
// Shell patterns on paths; runner/events/path_rules.h defines them. No dependencies, no allocation.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Matches `bytes` bytes at `path`, or the path of one of its parent folders. The pattern ends with a 0.
bool glob_matches(const char *pattern, const char *path, size_t bytes);

#pragma GCC visibility pop
