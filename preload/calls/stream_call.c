// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/stream_call.h"

#include "preload/base/real_function.h"
#include "preload/files/file_identity.h"

// How far libc seeks back before it writes: over what was read ahead. A used-up buffer counts as empty, and writing
// begins at its start.
static int64_t read_ahead_of(const FILE *stream) {
  if (stream->_flags & (kStreamAppends | kStreamInBackup)) return 0;
  if (stream->_flags & kStreamIsWriting) return stream->_IO_read_end - stream->_IO_write_base;
  return stream->_IO_read_ptr == stream->_IO_buf_end ? 0 : stream->_IO_read_end - stream->_IO_read_ptr;
}

struct stream_state stream_state(FILE *stream) {
  struct stream_state state = {
      .read_base = stream->_IO_read_base,
      .read_ptr = stream->_IO_read_ptr,
      .read_end = stream->_IO_read_end,
      .write_ptr = stream->_IO_write_ptr,
      .unread = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr),
      .pending = (size_t)(stream->_IO_write_ptr - stream->_IO_write_base),
      .buffer_bytes = (size_t)(stream->_IO_buf_end - stream->_IO_buf_base),
      .read_ahead = read_ahead_of(stream),
      .position = stream->_offset,
      .flags = stream->_flags,
  };
  if (unlikely(streams_recorded_at_exit)) state.pending -= recorded_at_exit(stream, state.pending);
  // While pushed-back characters are read, the real buffer is in the save area.
  if (unlikely(state.flags & kStreamInBackup)) state.unread += (size_t)(stream->_IO_save_end - stream->_IO_save_base);
  return state;
}

// The pointer alone has the same value again after a whole buffer of bytes. The file's position, if libc knows it,
// distinguishes the two places.
uint32_t stream_place(const char *pointer, int64_t position) {
  const uint32_t kOdd = 0x9e3779b1;
  return (uint32_t)(uintptr_t)pointer + (uint32_t)(position + 1) * kOdd;
}

static uint32_t place_of(const struct stream_state *state) {
  bool writes = state->flags & kStreamIsWriting;
  return stream_place(writes ? state->write_ptr : state->read_ptr, state->position);
}

// The pointers cannot show that a stream has moved in three cases, which count as moved: an unbuffered or line-buffered
// stream that writes; a small buffer (set by the program, or by libc for files with small blocks, as in /proc), which may
// have been refilled up to the same place; and the end of the file, where the buffer is always empty.
enum { kLeastOwnBuffer = 4096 };  // libc's own size for a file on most file systems
bool stream_moved_unseen(int fd, const struct stream_state *state) {
  const struct fd_entry *entry = fd_entry_of(fd);
  if (!entry || entry->last_place != place_of(state)) return true;
  if (state->flags & kStreamIsWriting) return (state->flags & (kStreamUnbuffered | kStreamLineBuffered)) != 0;
  if (state->flags & _IO_EOF_SEEN) return true;
  return state->buffer_bytes && state->buffer_bytes < kLeastOwnBuffer;
}

void note_stream_place(const struct stream_call *call, const struct stream_state *after, bool recorded) {
  struct fd_entry *entry = fd_entry_of(call->call.fd);
  if (unlikely(!entry || in_vfork_child())) return;
  bool still_unseen = call->unseen && !recorded;  // the next record has to report it
  bool can_come_back = after->flags & _IO_EOF_SEEN;
  entry->last_place = place_of(after) ^ (still_unseen || can_come_back ? 1 : 0);
}

// Used if only a minimum of the bytes read is known: makes the next record report that the stream has moved unseen.
static void forget_stream_place(int fd) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (entry && !in_vfork_child()) entry->last_place ^= 1;
}

void begin_stream_call(struct stream_call *call, FILE *stream, enum call_kind kind, enum stream_locking locking) {
  *call = (struct stream_call){.call = {.outer = this_thread.pending, .kind = (uint16_t)kind, .form = kCallOnStream},
                               .stream = stream};
  if (unlikely(!stream || stream_descriptor(stream) < 0 || stream->_mode > 0)) return;
  call->call.start = file_stamp();
  if (unlikely(!call->call.start)) return;
  call->call.fd = stream->_fileno;
  bool shared = stream->_flags2 & kStreamNeedsLock && !(stream->_flags & _IO_USER_LOCK);
  if (unlikely(shared && locking == kLockStream)) {
    LIBC(void, flockfile, FILE *);
    libc_flockfile(stream);
    call->locked = stream;
  }
  call->before = stream_state(stream);
  call->unseen = stream_moved_unseen(call->call.fd, &call->before);
  link_call(&call->call);
}

void unlock_stream(struct stream_call *call) {
  if (likely(!call->locked)) return;
  LIBC(void, funlockfile, FILE *);
  libc_funlockfile(call->locked);
  call->locked = 0;
}

uint32_t take_buffered_calls(int fd) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (unlikely(!entry)) return 1;
  uint32_t calls = entry->buffered_calls + 1;
  entry->buffered_calls = 0;
  return calls;
}

static uint64_t flags_of(struct stream_call *call) {
  uint64_t flags = MLRUN_CALL_STDIO | (call->unseen ? MLRUN_CALL_UNSEEN : 0);
  call->unseen = false;
  return flags;
}

COLD void put_stream_record(struct stream_call *call, struct stream_transfer transfer) {
  uint64_t end = now_ticks();
  struct pending_call record = call->call;
  bool placed = transfer.result >= 0 && transfer.position >= transfer.result;
  record.kind = (uint16_t)transfer.kind;
  record.requested = transfer.requested;
  record.offset = placed ? (uint64_t)(transfer.position - transfer.result) : MLRUN_NO_OFFSET;
  record.open_file = open_file_of(record.fd);
  record.arg2 = take_buffered_calls(record.fd);
  put_call(&record, end, transfer.result, flags_of(call));
  call->call.start = end;
}

COLD void put_stream_seek(struct stream_call *call, struct stream_seek seek) {
  uint64_t end = seek.transfer_follows ? call->call.start : now_ticks();
  struct pending_call record = call->call;
  record.kind = KIND_fseek;
  record.requested = (uint64_t)seek.offset;
  record.offset = seek.position >= 0 ? (uint64_t)seek.position : MLRUN_NO_OFFSET;
  record.open_file = open_file_of(record.fd);
  record.arg2 = (uint64_t)seek.whence;
  put_call(&record, end, seek.result, flags_of(call));
  call->call.start = end;
}

// libc seeks back over what was read ahead before it writes.
static void put_seek_back(struct stream_call *call) {
  put_stream_seek(call, (struct stream_seek){-call->before.read_ahead, -1, 0, SEEK_CUR, .transfer_follows = true});
}

// How many bytes the call read from the file, into the buffer or past it. If only a minimum of the bytes handed out is
// known, a refill shows in another end of the buffer, or in a pointer that has not moved by that minimum.
static size_t refilled_bytes(const struct stream_state *before, const struct stream_state *after,
                             struct handed_out handed) {
  int64_t bytes = (int64_t)(handed.bytes + after->unread - before->unread);
  if (handed.is_least && !(before->flags & kStreamInBackup)) {
    bool same = before->read_base == after->read_base && before->read_end == after->read_end;
    if (same && after->read_ptr - before->read_ptr >= (int64_t)handed.bytes) return 0;
    int64_t last_refill = after->read_end - after->read_base;
    if (bytes < last_refill) bytes = last_refill;
  }
  return bytes > 0 ? (size_t)bytes : 0;
}

// Whether a call that read no bytes has asked the kernel. It has if it met the end of the file or failed just now. If
// the end was known before, only a request for a whole buffer or more asks again.
static bool asked_in_vain(const struct stream_state *before, const struct stream_state *after,
                          struct handed_out handed) {
  if (after->flags & kStreamNoReads) return false;
  if (after->flags & ~before->flags & (_IO_EOF_SEEN | _IO_ERR_SEEN)) return true;
  if (handed.bytes >= handed.asked) return false;
  return !(after->flags & _IO_EOF_SEEN) || handed.asked - handed.bytes >= after->buffer_bytes;
}

// A stream that was being written is flushed before anything is read, unless the read bypasses the buffer, which libc
// then empties unwritten.
static void put_flush_before_read(struct stream_call *call, const struct stream_state *after, size_t read,
                                  size_t asked) {
  const struct stream_state *before = &call->before;
  if (before->pending <= after->pending || (before->buffer_bytes && asked >= before->buffer_bytes)) return;
  size_t flushed = before->pending - after->pending;
  bool sought = before->read_ahead && after->position >= (int64_t)read;
  if (before->read_ahead && !sought) put_seek_back(call);  // the end of the file makes libc forget the position
  put_stream_record(call, (struct stream_transfer){KIND_fflush, flushed, (int64_t)flushed,
                                                   sought ? after->position - (int64_t)read : -1});
}

// A write that failed before it buffered anything has left the bytes read ahead in the buffer, after the place where it
// would have begun. A read resumes at that place, unless it bypasses the buffer.
static void take_up_read_ahead(struct stream_call *call, size_t asked) {
  struct stream_state *before = &call->before;
  if (before->pending || before->read_end <= before->write_ptr || asked >= before->buffer_bytes) return;
  before->read_base = call->stream->_IO_buf_base;
  before->read_ptr = before->write_ptr;
  before->unread = (size_t)(before->read_end - before->write_ptr);
}

void end_stream_read(struct stream_call *call, struct handed_out handed) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state *before = &call->before, after = stream_state(call->stream);
  unlock_stream(call);
  if (unlikely(before->flags & kStreamIsWriting)) take_up_read_ahead(call, handed.asked);
  int error = errno;
  size_t bytes = refilled_bytes(before, &after, handed), buffer = after.buffer_bytes;
  uint64_t start = call->call.start;
  if (unlikely(before->pending)) put_flush_before_read(call, &after, bytes, handed.asked);
  struct stream_transfer transfer = {(enum call_kind)call->call.kind, bytes > buffer ? bytes : buffer, (int64_t)bytes,
                                     -1};
  if (bytes) {
    put_stream_record(call, transfer);
  } else if (asked_in_vain(before, &after, handed)) {
    if (!(after.flags & _IO_EOF_SEEN)) transfer.result = -(int64_t)error;
    put_stream_record(call, transfer);
  } else if (call->call.start == start) {
    count_buffered_call(call->call.fd);
  }
  note_stream_place(call, &after, call->call.start != start);
  bool met_end = after.flags & (_IO_EOF_SEEN | kStreamUnbuffered),
       lacks = bytes > handed.bytes + after.unread - before->unread;
  if (handed.is_least && bytes && (met_end || lacks)) forget_stream_place(call->call.fd);
}

// A call that synchronises seeks back over what was read ahead. If it then empties the buffer, the state does not show
// whether the file can seek.
static void put_given_back(struct stream_call *call, const struct stream_state *after) {
  const struct stream_state *before = &call->before;
  int64_t ahead = before->read_end - before->read_ptr;
  if (before->pending || ahead <= 0 || after->read_end != after->read_ptr) return;
  struct stat status;
  if (after->read_ptr != before->read_ptr && !(stat_descriptor(call->call.fd, &status) && S_ISREG(status.st_mode)))
    return;
  put_stream_seek(call, (struct stream_seek){.offset = -ahead, .position = -1, .whence = SEEK_CUR});
}

int error_of_seek_back(int fd, int64_t bytes) {
  if (!bytes || !recording_system_calls_allowed()) return 0;
  int64_t position = raw_syscall3(SYS_lseek, fd, 0, SEEK_CUR);
  return position < 0 ? (int)-position : position < bytes ? EINVAL : 0;
}

int64_t bytes_given_back(FILE *stream) {
  struct stat status;
  int64_t ahead = stream->_IO_read_end - stream->_IO_read_ptr;
  if (ahead <= 0 || stream->_flags & kStreamIsWriting || stream_descriptor(stream) < 0 || stream->_mode > 0) return 0;
  return stat_descriptor(stream->_fileno, &status) && S_ISREG(status.st_mode) ? ahead : 0;
}

static void end_write(struct stream_call *call, size_t accepted, bool ok, bool counts) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state after = stream_state(call->stream);
  unlock_stream(call);
  enum call_kind kind = (enum call_kind)call->call.kind;
  uint64_t start = call->call.start;
  int64_t offered = (int64_t)(accepted + call->before.pending), flushed = offered - (int64_t)after.pending;
  if (unlikely(!ok && !(after.flags & kStreamNoWrites))) {
    put_stream_record(call, (struct stream_transfer){kind, (uint64_t)offered, -(int64_t)errno, -1});
  } else if (ok && flushed > 0) {
    int64_t position = call->before.read_ahead ? after.position : -1;
    if (call->before.read_ahead && position < 0) put_seek_back(call);  // fflush forgets the position
    put_stream_record(call, (struct stream_transfer){kind, (uint64_t)flushed, flushed, position});
  } else {
    if (ok && kind == KIND_fflush) put_given_back(call, &after);
    if (call->call.start == start && counts) count_buffered_call(call->call.fd);
  }
  note_stream_place(call, &after, call->call.start != start);
}

void end_stream_write(struct stream_call *call, size_t accepted, bool ok) { end_write(call, accepted, ok, true); }

void end_stream_buffer(struct stream_call *call, bool ok) { end_write(call, 0, ok, false); }
