// SPDX-License-Identifier: Apache-2.0
// stdio calls that read: one record per refill of the FILE's buffer (stream_call.h).
#include <string.h>

#include "preload/base/real_function.h"
#include "preload/calls/stream_buffer.h"

#undef fread_unlocked

// Whether an fread is passed on as a request for single bytes: it does the same, but also returns how many bytes of an
// incomplete last item it took. Not if size * count overflows, which libc handles.
static bool in_bytes(const struct stream_call *call, size_t size, size_t count) {
  return call->call.start && size > 1 && count <= SIZE_MAX / size;
}

static size_t items(size_t bytes, size_t size, size_t count) { return bytes == size * count ? count : bytes / size; }

static size_t traced_fread(size_t (*real)(void *, size_t, size_t, FILE *), void *at, size_t size, size_t count,
                           FILE *stream, enum stream_locking locking) {
  if (unlikely(!size || !count)) return real(at, size, count, stream);  // libc does not read the stream either
  if (likely(holds_unread(stream, product(size, count), locking))) {
    count_call_in_buffer(stream->_fileno, size * count);
    return real(at, size, count, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fread, locking);
  bool bytewise = in_bytes(&call, size, count);
  size_t result = bytewise ? real(at, 1, size * count, stream) : real(at, size, count, stream);
  size_t bytes = bytewise ? result : result * size;
  end_stream_read(&call, (struct handed_out){.bytes = bytes, .asked = size * count});
  return bytewise ? items(bytes, size, count) : result;
}

EXPORT size_t fread(void *at, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fread, void *, size_t, size_t, FILE *);
  return traced_fread(real, at, size, count, stream, kLockStream);
}

EXPORT size_t fread_unlocked(void *at, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fread_unlocked, void *, size_t, size_t, FILE *);
  return traced_fread(real, at, size, count, stream, kStreamIsLocked);
}

typedef size_t (*fread_chk_function)(void *, size_t, size_t, size_t, FILE *);

static size_t traced_fread_chk(fread_chk_function real, void *at, size_t room, size_t size, size_t count, FILE *stream,
                               enum stream_locking locking) {
  if (unlikely(!size || !count)) return real(at, room, size, count, stream);
  if (likely(holds_unread(stream, product(size, count), locking))) {
    count_call_in_buffer(stream->_fileno, size * count);
    return real(at, room, size, count, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fread, locking);
  bool bytewise = in_bytes(&call, size, count);
  size_t result = bytewise ? real(at, room, 1, size * count, stream) : real(at, room, size, count, stream);
  size_t bytes = bytewise ? result : result * size;
  end_stream_read(&call, (struct handed_out){.bytes = bytes, .asked = size * count});
  return bytewise ? items(bytes, size, count) : result;
}

size_t __fread_chk(void *at, size_t room, size_t size, size_t count, FILE *stream);
EXPORT size_t __fread_chk(void *at, size_t room, size_t size, size_t count, FILE *stream) {
  REAL(size_t, __fread_chk, void *, size_t, size_t, size_t, FILE *);
  return traced_fread_chk(real, at, room, size, count, stream, kLockStream);
}

size_t __fread_unlocked_chk(void *at, size_t room, size_t size, size_t count, FILE *stream);
EXPORT size_t __fread_unlocked_chk(void *at, size_t room, size_t size, size_t count, FILE *stream) {
  REAL(size_t, __fread_unlocked_chk, void *, size_t, size_t, size_t, FILE *);
  return traced_fread_chk(real, at, room, size, count, stream, kStreamIsLocked);
}

static size_t most_of(int room) { return room > 0 ? (size_t)room - 1 : 0; }

// fgets does not return how much it took. It is at least one character, if the buffer had space for one, though the
// text may begin with a 0.
static struct handed_out handed_line(const struct stream_call *call, const char *text, int room) {
  size_t bytes = text && call->call.start ? strnlen(text, most_of(room)) : 0;
  return (struct handed_out){.bytes = !bytes && text && room > 1 ? 1 : bytes, .is_least = true};
}

static char *traced_fgets(char *(*real)(char *, int, FILE *), char *at, int room, FILE *stream,
                          enum stream_locking locking) {
  if (unlikely(room <= 1)) return real(at, room, stream);  // libc does not read the stream then
  size_t in_buffer;
  if (likely(holds_line(stream, '\n', most_of(room), locking, &in_buffer))) {
    count_call_in_buffer(stream->_fileno, in_buffer);
    return real(at, room, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fgets, locking);
  char *result = real(at, room, stream);
  end_stream_read(&call, handed_line(&call, result, room));
  return result;
}

EXPORT char *fgets(char *at, int room, FILE *stream) {
  REAL(char *, fgets, char *, int, FILE *);
  return traced_fgets(real, at, room, stream, kLockStream);
}

EXPORT char *fgets_unlocked(char *at, int room, FILE *stream) {
  REAL(char *, fgets_unlocked, char *, int, FILE *);
  return traced_fgets(real, at, room, stream, kStreamIsLocked);
}

static char *traced_fgets_chk(char *(*real)(char *, size_t, int, FILE *), char *at, size_t size, int room, FILE *stream,
                              enum stream_locking locking) {
  if (unlikely(room <= 1)) return real(at, size, room, stream);
  size_t in_buffer;
  if (likely(holds_line(stream, '\n', most_of(room), locking, &in_buffer))) {
    count_call_in_buffer(stream->_fileno, in_buffer);
    return real(at, size, room, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fgets, locking);
  char *result = real(at, size, room, stream);
  end_stream_read(&call, handed_line(&call, result, room));
  return result;
}

char *__fgets_chk(char *at, size_t size, int room, FILE *stream);
EXPORT char *__fgets_chk(char *at, size_t size, int room, FILE *stream) {
  REAL(char *, __fgets_chk, char *, size_t, int, FILE *);
  return traced_fgets_chk(real, at, size, room, stream, kLockStream);
}

char *__fgets_unlocked_chk(char *at, size_t size, int room, FILE *stream);
EXPORT char *__fgets_unlocked_chk(char *at, size_t size, int room, FILE *stream) {
  REAL(char *, __fgets_unlocked_chk, char *, size_t, int, FILE *);
  return traced_fgets_chk(real, at, size, room, stream, kStreamIsLocked);
}

static ssize_t traced_getdelim(ssize_t (*real)(char **, size_t *, int, FILE *), char **line, size_t *room,
                               int delimiter, FILE *stream) {
  if (unlikely(!line || !room)) return real(line, room, delimiter, stream);
  size_t in_buffer;
  if (likely(holds_line(stream, delimiter, SIZE_MAX, kLockStream, &in_buffer))) {
    count_call_in_buffer(stream->_fileno, in_buffer);
    return real(line, room, delimiter, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_getline, kLockStream);
  ssize_t result = real(line, room, delimiter, stream);
  end_stream_read(&call, (struct handed_out){.bytes = result > 0 ? (size_t)result : 0});
  return result;
}

EXPORT ssize_t getdelim(char **line, size_t *room, int delimiter, FILE *stream) {
  REAL(ssize_t, getdelim, char **, size_t *, int, FILE *);
  return traced_getdelim(real, line, room, delimiter, stream);
}

EXPORT ssize_t __getdelim(char **line, size_t *room, int delimiter, FILE *stream) {
  REAL(ssize_t, __getdelim, char **, size_t *, int, FILE *);
  return traced_getdelim(real, line, room, delimiter, stream);
}

EXPORT ssize_t getline(char **line, size_t *room, FILE *stream) {
  REAL(ssize_t, getline, char **, size_t *, FILE *);
  if (unlikely(!line || !room)) return real(line, room, stream);
  size_t in_buffer;
  if (likely(holds_line(stream, '\n', SIZE_MAX, kLockStream, &in_buffer))) {
    count_call_in_buffer(stream->_fileno, in_buffer);
    return real(line, room, stream);
  }
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_getline, kLockStream);
  ssize_t result = real(line, room, stream);
  end_stream_read(&call, (struct handed_out){.bytes = result > 0 ? (size_t)result : 0});
  return result;
}
