// SPDX-License-Identifier: Apache-2.0
// The process's working directory, by the id of its name. Asked from the kernel when a record needs it and it is not
// known; chdir and fchdir (hooked beside it) make it unknown again.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

void forget_working_directory(void);

// Its string id, if that is known and the process has written the definition; else 0.
uint64_t known_working_directory(void);

// Around a call that changes it at any time, unseen: meanwhile every record asks anew. Nothing unless `really`.
void working_directory_changes(bool really);
void working_directory_settles(bool really);

#pragma GCC visibility pop
