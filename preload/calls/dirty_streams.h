// SPDX-License-Identifier: Apache-2.0
// Streams that are written out all at once, by fflush(NULL), fcloseall and the end of the process: which ones have
// something to write is noted before. The end comes after the last moment that is ours: its records tell what stood in
// the buffers then, and say so (MLRUN_CALL_AT_EXIT).
#pragma once

#include "preload/calls/stream_call.h"

#pragma GCC visibility push(hidden)

enum { kDirtyStreamsMax = 64 };  // more at once are flushed unseen, and counted (MLRUN_FAIL_STREAMS)

struct dirty_stream {
  FILE *stream;  // only to be compared: it may be gone
  int fd;
  bool unseen;           // it may have moved unseen
  bool failed;           // this flush of it
  uint32_t empty_place;  // where it stands with an empty buffer (fd_entry.last_place)
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

// To be called when nothing of the program's own code will run any more.
void tell_flush_at_exit(void);

#pragma GCC visibility pop
