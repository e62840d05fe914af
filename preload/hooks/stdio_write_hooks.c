// SPDX-License-Identifier: Apache-2.0
// stdio calls that write: one record per flush of the FILE's buffer (stream_call.h).
#include <string.h>

#include "preload/base/real_function.h"
#include "preload/calls/dirty_streams.h"
#include "preload/calls/stream_buffer.h"

#undef fwrite_unlocked

static size_t traced_fwrite(size_t (*real)(const void *, size_t, size_t, FILE *), const void *at, size_t size,
                            size_t count, FILE *stream, enum stream_locking locking) {
  if (unlikely(!size || !count)) return real(at, size, count, stream);  // libc does not read the stream either
  if (likely(has_room(stream, product(size, count), locking))) {
    count_call_in_buffer(stream->_fileno, size * count);
    return real(at, size, count, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fwrite, locking);
  size_t result = real(at, size, count, stream);
  end_stream_write(&call, size * count, result == count || !size);
  return result;
}

EXPORT size_t fwrite(const void *at, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fwrite, const void *, size_t, size_t, FILE *);
  return traced_fwrite(real, at, size, count, stream, kLockStream);
}

EXPORT size_t fwrite_unlocked(const void *at, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *);
  return traced_fwrite(real, at, size, count, stream, kStreamIsLocked);
}

static int traced_fputs(int (*real)(const char *, FILE *), const char *text, FILE *stream,
                        enum stream_locking locking) {
  size_t bytes = strlen(text);
  if (likely(has_room(stream, bytes, locking))) {
    count_call_in_buffer(stream->_fileno, bytes);
    return real(text, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fputs, locking);
  int result = real(text, stream);
  end_stream_write(&call, bytes, result >= 0);
  return result;
}

EXPORT int fputs(const char *text, FILE *stream) {
  REAL(int, fputs, const char *, FILE *);
  return traced_fputs(real, text, stream, kLockStream);
}

EXPORT int fputs_unlocked(const char *text, FILE *stream) {
  REAL(int, fputs_unlocked, const char *, FILE *);
  return traced_fputs(real, text, stream, kStreamIsLocked);
}

EXPORT int puts(const char *text) {
  REAL(int, puts, const char *);
  size_t bytes = strlen(text) + 1;
  if (likely(has_room(stdout, bytes, kLockStream))) {
    count_call_in_buffer(stdout->_fileno, bytes);
    return real(text);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stdout, KIND_fputs, kLockStream);
  int result = real(text);
  end_stream_write(&call, bytes, result >= 0);
  return result;
}

static int flush_all(int (*real)(FILE *)) {
  struct dirty_streams dirty;
  begin_flush_all(&dirty);
  int result = real(0);
  end_flush_all(&dirty, result == 0);
  return result;
}

static int traced_fflush(int (*real)(FILE *), FILE *stream, enum stream_locking locking) {
  if (!stream) return flush_all(real);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fflush, locking);
  int result = real(stream);
  end_stream_write(&call, 0, result == 0);
  return result;
}

EXPORT int fflush(FILE *stream) {
  REAL(int, fflush, FILE *);
  return traced_fflush(real, stream, kLockStream);
}

EXPORT int fflush_unlocked(FILE *stream) {
  REAL(int, fflush_unlocked, FILE *);
  return traced_fflush(real, stream, kStreamIsLocked);
}

EXPORT int fcloseall(void) {
  REAL(int, fcloseall, void);
  struct dirty_streams dirty;
  begin_flush_all(&dirty);
  int result = real();
  end_flush_all(&dirty, result == 0);
  return result;
}
