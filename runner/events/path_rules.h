// SPDX-License-Identifier: Apache-2.0
// Which files are recorded: --include and --exclude on their way to the traced processes, behind the arena's control
// page (arena.h). Written before any of them looks, and never changed.
//
//   'i' or 'e', pattern, 0, 'i' or 'e', pattern, 0, ...        control page: rules_bytes
//
// A file is recorded if no pattern to exclude matches its absolute path, and one to include does where there is any.
// Files without a path (pipe:[1], socket:[2]) are judged by what the kernel calls them.
//
//   ?        one byte but '/'                 [a-z], [!a-z]  one byte of the set, never '/'
//   *        any bytes but '/'                \x              x itself
//   **       any bytes                        **/            any folders, none among them
//
// A pattern that matches a folder of the path matches what is in it.
#pragma once

#include "runner/events/types.h"

enum { MLRUN_RULE_INCLUDE = 'i', MLRUN_RULE_EXCLUDE = 'e' };
