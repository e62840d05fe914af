// SPDX-License-Identifier: Apache-2.0
// Flushes of all streams at once: by fflush(NULL), fcloseall and the end of the process. The streams with pending bytes
// are noted before the flush. At the end of the process no code of ours runs after libc's flush: the records are
// written before it, from the buffers' contents at that time, and are marked (MLRUN_CALL_AT_EXIT).
#pragma once

#include "preload/calls/stream_call.h"

#pragma GCC visibility push(hidden)

enum { kDirtyStreamsMax = 64 };  // further streams get no record and are counted (MLRUN_FAIL_STREAMS)

struct dirty_stream {
  FILE *stream;  // only for comparison: the stream may have been freed
  int fd;
  bool unseen;           // a call that is not hooked may have moved its offset
  bool failed;           // its flush failed
  uint32_t empty_place;  // its fd_entry.last_place once the buffer is empty
  size_t pending;
  int64_t read_ahead;  // bytes over which libc seeks back before it writes
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
