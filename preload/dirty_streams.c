// SPDX-License-Identifier: Apache-2.0
#include "preload/dirty_streams.h"

// libc's list of all streams and its lock: exported since 2.2.5, declared in no public header.
extern FILE *_IO_list_all;
void _IO_list_lock(void);
void _IO_list_unlock(void);

void begin_flush_all(struct dirty_streams *dirty) {
  dirty->count = 0;
  dirty->call = (struct stream_call){.call = {.kind = KIND_fflush, .form = kCallOnStream, .fd = -1}};
  dirty->call.call.start = file_stamp();
  if (!dirty->call.call.start) return;
  _IO_list_lock();
  for (FILE *stream = _IO_list_all; stream && dirty->count < kDirtyStreamsMax; stream = stream->_chain) {
    size_t pending = stream_state(stream).pending;
    if (pending && stream_descriptor(stream) >= 0 && stream->_mode <= 0)
      dirty->streams[dirty->count++] = (struct dirty_stream){stream->_fileno, pending};
  }
  _IO_list_unlock();
}

void end_flush_all(struct dirty_streams *dirty, bool ok) {
  int error = errno;
  for (int i = 0; i < dirty->count; i++) {
    const struct dirty_stream *stream = &dirty->streams[i];
    dirty->call.call.fd = stream->fd;
    int64_t result = ok ? (int64_t)stream->pending : -(int64_t)error;
    put_stream_record(&dirty->call, (struct stream_transfer){KIND_fflush, stream->pending, result, -1});
  }
}
