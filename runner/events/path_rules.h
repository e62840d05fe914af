// SPDX-License-Identifier: Apache-2.0
// Which files are recorded: --include and --exclude in the memory of the arena, behind its control page (arena.h).
// Written before any traced process reads them, and never changed.
//
//   'i' or 'e', pattern, 0, 'i' or 'e', pattern, 0, ...        control page: rules_bytes
//
// A file is recorded if its absolute path matches no exclude pattern, and an include pattern if there is any. Files
// without a path (pipe:[1], socket:[2]) are matched by the kernel's name for them.
//
//   ?        one byte but '/'                 [a-z], [!a-z]  one byte of the set, never '/'
//   *        any bytes but '/'                \x              x itself
//   **       any bytes                        **/            any folders, none among them
//
// A pattern that matches a folder of the path matches its contents.
#pragma once

#include "runner/events/types.h"

enum { MLRUN_RULE_INCLUDE = 'i', MLRUN_RULE_EXCLUDE = 'e' };
