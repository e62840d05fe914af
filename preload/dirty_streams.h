// SPDX-License-Identifier: Apache-2.0
// fflush(NULL) writes out every stream: which ones have something to write is noted before.
#pragma once

#include "preload/stream_call.h"

#pragma GCC visibility push(hidden)

enum { kDirtyStreamsMax = 64 };  // more at once are flushed unseen

struct dirty_stream {
  int fd;
  size_t pending;
};

struct dirty_streams {
  struct stream_call call;  // of the fflush
  int count;
  struct dirty_stream streams[kDirtyStreamsMax];
};

void begin_flush_all(struct dirty_streams *dirty);
void end_flush_all(struct dirty_streams *dirty, bool ok);

#pragma GCC visibility pop
