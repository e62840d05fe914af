// SPDX-License-Identifier: Apache-2.0
// setvbuf and similar calls: the old buffer is flushed, or read-ahead is given back, before the stream gets another
// one. Not setlinebuf, which keeps the buffer.
#include <stdio.h>

#include "preload/base/real_function.h"
#include "preload/calls/stream_call.h"

EXPORT int setvbuf(FILE *stream, char *buffer, int mode, size_t bytes) {
  REAL(int, setvbuf, FILE *, char *, int, size_t);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fflush, kLockStream);
  int result = real(stream, buffer, mode, bytes);
  end_stream_buffer(&call, result == 0);
  return result;
}

EXPORT void setbuf(FILE *stream, char *buffer) {
  REAL(void, setbuf, FILE *, char *);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fflush, kLockStream);
  real(stream, buffer);
  end_stream_buffer(&call, true);
}

EXPORT void setbuffer(FILE *stream, char *buffer, size_t bytes) {
  REAL(void, setbuffer, FILE *, char *, size_t);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fflush, kLockStream);
  real(stream, buffer, bytes);
  end_stream_buffer(&call, true);
}
