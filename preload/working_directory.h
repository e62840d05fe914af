// SPDX-License-Identifier: Apache-2.0
// The process's working directory, by the id of its name. Asked from the kernel when a record needs it and it is not
// known; chdir and fchdir (hooked beside it) make it unknown again.
#pragma once

#pragma GCC visibility push(hidden)

void forget_working_directory(void);

#pragma GCC visibility pop
