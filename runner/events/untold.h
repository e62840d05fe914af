// SPDX-License-Identifier: Apache-2.0
// What is said in several places of what a way of recording does not see.
#pragma once

// Operations on files of which no system call that is looked at tells.
#define MLRUN_NO_FILE_CALLS                                                                                            \
  "page faults, programs that are executed, msync, what aio and io_uring were handed, clones, truncation by opening, " \
  "files that are closed otherwise than by close"
