// SPDX-License-Identifier: Apache-2.0
// Streams written all at once, by fflush(NULL), fcloseall and the end of the process: the streams with pending bytes
// are noted before. At the end no later moment is ours: its records describe the buffers as they were then, and are
// marked (MLRUN_CALL_AT_EXIT).
#pragma once

#include "preload/calls/stream_call.h"

#pragma GCC visibility push(hidden)

enum { kDirtyStreamsMax = 64 };  // more at once are flushed unseen, and counted (MLRUN_FAIL_STREAMS)

struct dirty_stream {
  FILE *stream;  // only to be compared: it may be gone
  int fd;
  bool unseen;           // the stream may have moved unseen
  bool failed;           // its flush failed
  uint32_t empty_place;  // its fd_entry.last_place with an empty buffer
  size_t pending;
  int64_t read_ahead;  // libc seeks back over that first
};

struct dirty_streams {
  struct stream_call call;  // of the fflush
  int count, left_out;
  struct dirty_stream streams[kDirtyStreamsMax];
};

void begin_flush_all(struct dirty_streams *dirty);
void end_flush_all(struct dirty_streams *dirty, bool ok);

// Must be called when no more code of the program runs.
void record_flush_at_exit(void);

#pragma GCC visibility pop
