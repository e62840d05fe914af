// SPDX-License-Identifier: Apache-2.0
// Names that the launcher, the injected libraries and the verbs agree on.
#pragma once

// MLRUN_SESSION=<absolute path of the arena>,<its size in bytes>,<trace folder>. The path holds no comma.
#define MLRUN_SESSION_VARIABLE "MLRUN_SESSION"
#define MLRUN_PRELOAD_LIBRARY  "libmlrun_preload.so"

// Files of a trace folder while the run goes on. They are gone once the trace is finished (--keep-raw keeps the spool).
#define MLRUN_SESSION_FILE "session.json"
#define MLRUN_SPOOL_FILE   "spool.bin"
