// SPDX-License-Identifier: Apache-2.0
// Texts about events that a mechanism does not see, shared by several places.
#pragma once

// Operations on files that happen without a hooked system call.
#define MLRUN_NO_FILE_CALLS \
  "page faults, exec, msync, aio and io_uring requests, clones, truncation by open, files closed without close"
