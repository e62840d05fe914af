// SPDX-License-Identifier: Apache-2.0
// The FILE's buffer serves most stdio calls, and many of these can be recognised before the call: then the hook takes no
// time stamp and only counts the call. This is not possible for a stream that other threads may change meanwhile, unless
// its lock is held.
#pragma once

#include <string.h>

#include "preload/calls/stream_call.h"

INLINE bool can_predict(const FILE *stream, enum stream_locking locking) {
  return stream && stream_descriptor(stream) >= 0 && stream->_mode <= 0 &&
         (locking == kStreamIsLocked || !(stream->_flags2 & kStreamNeedsLock));
}

// `bytes` more can be read without asking the kernel.
INLINE bool holds_unread(const FILE *stream, size_t bytes, enum stream_locking locking) {
  return can_predict(stream, locking) && bytes <= (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

// The rest of a line can be read without asking the kernel, or `most` bytes if that is less; *bytes: how many.
INLINE bool holds_line(const FILE *stream, int delimiter, size_t most, enum stream_locking locking, size_t *bytes) {
  if (!can_predict(stream, locking)) return false;
  size_t unread = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr), at_most = most < unread ? most : unread;
  const char *end = at_most ? (const char *)memchr(stream->_IO_read_ptr, delimiter, at_most) : 0;
  *bytes = end ? (size_t)(end - stream->_IO_read_ptr) + 1 : most;
  return end || most <= unread;
}

// `bytes` more can be written without a flush. The write_end of a line-buffered stream leaves no space; its flag is
// checked too because write_end is older if the stream has become line-buffered since.
INLINE bool has_room(const FILE *stream, size_t bytes, enum stream_locking locking) {
  return can_predict(stream, locking) &&
         (stream->_flags & (kStreamIsWriting | kStreamLineBuffered)) == kStreamIsWriting &&
         stream->_IO_write_end > stream->_IO_write_ptr &&
         bytes <= (size_t)(stream->_IO_write_end - stream->_IO_write_ptr);
}

// size * count, or a value that no buffer holds.
INLINE size_t product(size_t size, size_t count) {
  size_t bytes;
  return __builtin_mul_overflow(size, count, &bytes) ? SIZE_MAX : bytes;
}
