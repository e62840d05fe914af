// SPDX-License-Identifier: Apache-2.0
// Texts about events that a mechanism does not see, shared by several places.
#pragma once

// File operations without a system call that is hooked.
#define MLRUN_NO_FILE_CALLS \
  "page faults, exec, msync, aio and io_uring requests, clones, truncation by open, files closed without close"
