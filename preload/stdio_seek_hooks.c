// SPDX-License-Identifier: Apache-2.0
// fseek, fsetpos and their like. libc answers from the buffer where it can; else it may write out what is pending, move the file's
// position, and fill the buffer anew. Each of the three is a record; a seek within the buffer is only counted.
#include "preload/real_function.h"
#include "preload/stream_call.h"

static bool same_buffer(const struct stream_state *before, const struct stream_state *after) {
  return before->read_base == after->read_base && before->read_end == after->read_end && after->unread &&
         before->position == after->position;
}

static void put_seek(struct stream_call *call, int64_t offset, int whence, int result) {
  uint64_t end = now_ticks();
  call->call.requested = (uint64_t)offset;
  call->call.offset = MLRUN_NO_OFFSET;
  call->call.arg2 = (uint64_t)whence;
  call->call.open_file = open_file_of(call->call.fd);
  put_call(&call->call, end, result ? -(int64_t)errno : 0, 0);
}

static void end_seek(struct stream_call *call, int64_t offset, int whence, int result) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state *before = &call->before, after = stream_state(call->stream);
  unlock_stream(call);
  if (before->pending > after.pending) {
    size_t flushed = before->pending - after.pending;
    put_stream_record(call, (struct stream_transfer){KIND_fflush, flushed, (int64_t)flushed, -1});
  }
  if (result == 0 && same_buffer(before, &after)) {
    count_buffered_call(call->call.fd);
    return;
  }
  put_seek(call, offset, whence, result);
  size_t refilled = (size_t)(after.read_end - after.read_base);
  bool fresh =
      before->read_base != after.read_base || before->read_end != after.read_end || before->position != after.position;
  if (result == 0 && refilled && fresh)
    put_stream_record(call,
                      (struct stream_transfer){KIND_fread, after.buffer_bytes, (int64_t)refilled, after.position});
}

EXPORT int fseek(FILE *stream, long offset, int whence) {
  REAL(int, fseek, FILE *, long, int);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fseek, kLockStream);
  int result = real(stream, offset, whence);
  end_seek(&call, offset, whence, result);
  return result;
}

EXPORT int fseeko(FILE *stream, off_t offset, int whence) {
  REAL(int, fseeko, FILE *, off_t, int);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fseek, kLockStream);
  int result = real(stream, offset, whence);
  end_seek(&call, offset, whence, result);
  return result;
}

EXPORT int fseeko64(FILE *stream, off_t offset, int whence) {
  REAL(int, fseeko64, FILE *, off_t, int);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fseek, kLockStream);
  int result = real(stream, offset, whence);
  end_seek(&call, offset, whence, result);
  return result;
}

EXPORT void rewind(FILE *stream) {
  REAL(void, rewind, FILE *);
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fseek, kLockStream);
  real(stream);
  end_seek(&call, 0, SEEK_SET, 0);
}

static int traced_fsetpos(int (*real)(FILE *, const fpos_t *), FILE *stream, const fpos_t *position) {
  struct stream_call call STREAM_CALL_CLEANUP;
  begin_stream_call(&call, stream, KIND_fseek, kLockStream);
  int result = real(stream, position);
  end_seek(&call, position->__pos, SEEK_SET, result);
  return result;
}

EXPORT int fsetpos(FILE *stream, const fpos_t *position) {
  REAL(int, fsetpos, FILE *, const fpos_t *);
  return traced_fsetpos(real, stream, position);
}

_Static_assert(sizeof(fpos_t) == sizeof(fpos64_t), "one layout for both");

EXPORT int fsetpos64(FILE *stream, const fpos64_t *position) {
  REAL(int, fsetpos64, FILE *, const fpos_t *);
  return traced_fsetpos(real, stream, (const fpos_t *)position);
}
