// SPDX-License-Identifier: Apache-2.0
// fseek, fsetpos and similar calls. libc answers from the buffer if it can; else it may flush, move the file's
// position, and refill the buffer. Each of the three is a record. A seek within the buffer sets the file's position,
// too.
#include "preload/base/real_function.h"
#include "preload/calls/stream_call.h"
#include "preload/files/file_identity.h"

static bool same_buffer(const struct stream_state *before, const struct stream_state *after) {
  return before->read_base == after->read_base && before->read_end == after->read_end && after->unread &&
         before->position == after->position;
}

// Request and result of the seek.
struct seek {
  int64_t offset;
  int whence;
  int result;
};

// libc seeks back over what was read ahead, then writes. After the seek the offset of that write is unknown.
static void put_flush(struct stream_call *call, const struct stream_state *after) {
  const struct stream_state *before = &call->before;
  if (before->pending <= after->pending) return;
  if (before->read_ahead)
    put_stream_seek(call, (struct stream_seek){-before->read_ahead, -1, 0, SEEK_CUR, .transfer_follows = true});
  size_t flushed = before->pending - after->pending;
  put_stream_record(call, (struct stream_transfer){KIND_fflush, flushed, (int64_t)flushed, -1});
}

// Whether libc knows the target's position before it seeks. Else it passes the seek to the kernel as it is.
static bool knows_place(const struct stream_state *before, const struct seek *seek, const struct stat *status) {
  if (seek->whence == SEEK_SET) return true;
  if (seek->whence == SEEK_END) return S_ISREG(status->st_mode);
  if (!before->pending) return before->position >= 0;
  return !(before->flags & kStreamAppends) && (before->position >= 0 || before->read_ahead);
}

// For a place outside of the buffer libc seeks to the beginning of its block, and reads from there. If the file ends
// before the place libc drops what it has read, and seeks again. Only the file's size shows how much that was. False:
// nothing was read.
static bool put_dropped_read(struct stream_call *call, const struct stream_state *after, const struct seek *seek) {
  int64_t buffer = (int64_t)after->buffer_bytes, place = after->position, block = place & ~(buffer - 1);
  int64_t ahead = place - block;
  if (after->flags & kStreamNoReads || place <= 0 || ahead == 0 || ahead > buffer) return false;
  struct stat status;
  if (!stat_descriptor(call->call.fd, &status) || !S_ISREG(status.st_mode)) return false;
  if (!knows_place(&call->before, seek, &status) || status.st_size >= place) return false;
  int64_t bytes = status.st_size > block ? status.st_size - block : 0;
  put_stream_seek(call, (struct stream_seek){block, block, 0, SEEK_SET, .transfer_follows = true});
  put_stream_record(call, (struct stream_transfer){KIND_fread, (uint64_t)buffer, bytes, block + bytes});
  return true;
}

static void put_seek(struct stream_call *call, const struct stream_state *after, const struct seek *seek) {
  int64_t refilled = seek->result ? 0 : after->read_end - after->read_base;
  struct stream_seek record = {seek->offset, -1, seek->result ? -(int64_t)errno : 0, seek->whence, false};
  if (!seek->result) record.position = after->position - refilled;
  if (!seek->result && same_buffer(&call->before, after)) {
    record.position = after->position;  // libc sets the kernel's position again, in case something else has moved it
    refilled = 0;
  }
  record.transfer_follows = refilled > 0;
  put_stream_seek(call, record);
  if (refilled)
    put_stream_record(call, (struct stream_transfer){KIND_fread, after->buffer_bytes, refilled, after->position});
}

static void end_seek(struct stream_call *call, int64_t offset, int whence, int result) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state after = stream_state(call->stream);
  unlock_stream(call);
  struct seek seek = {offset, whence, result};
  put_flush(call, &after);
  if (result == 0 && after.read_end == after.read_base) put_dropped_read(call, &after, &seek);
  put_seek(call, &after, &seek);
  note_stream_place(call, &after, true);
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
  end_seek(&call, 0, SEEK_SET, call.call.start && stream->_offset < 0 ? -1 : 0);
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
