// SPDX-License-Identifier: Apache-2.0
#include "preload/stream_call.h"

#include "preload/real_function.h"

struct stream_state stream_state(FILE *stream) {
  struct stream_state state = {
      .read_base = stream->_IO_read_base,
      .read_ptr = stream->_IO_read_ptr,
      .read_end = stream->_IO_read_end,
      .unread = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr),
      .pending = (size_t)(stream->_IO_write_ptr - stream->_IO_write_base),
      .buffer_bytes = (size_t)(stream->_IO_buf_end - stream->_IO_buf_base),
      .position = stream->_offset,
      .flags = stream->_flags,
  };
  if (unlikely(streams_told_at_exit)) state.pending -= told_at_exit(stream, state.pending);
  // While characters pushed back are read, the real buffer stands in the save area.
  if (unlikely(state.flags & kStreamInBackup)) state.unread += (size_t)(stream->_IO_save_end - stream->_IO_save_base);
  return state;
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

COLD void put_stream_record(const struct stream_call *call, struct stream_transfer transfer) {
  uint64_t end = now_ticks();
  struct pending_call record = call->call;
  bool placed = transfer.result >= 0 && transfer.position >= transfer.result;
  record.kind = (uint16_t)transfer.kind;
  record.requested = transfer.requested;
  record.offset = placed ? (uint64_t)(transfer.position - transfer.result) : MLRUN_NO_OFFSET;
  record.open_file = open_file_of(record.fd);
  record.arg2 = take_buffered_calls(record.fd);
  put_call(&record, end, transfer.result, MLRUN_CALL_STDIO);
}

// A buffer that was filled anew ends elsewhere, or its pointer has not moved as far as bytes were handed out.
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

// Did a call that brought no bytes ask the kernel? It did if it met the end or failed just now. Where the end was known
// before, only a request of a buffer or more asks again.
static bool asked_in_vain(const struct stream_state *before, const struct stream_state *after,
                          struct handed_out handed) {
  if (after->flags & kStreamNoReads) return false;
  if (after->flags & ~before->flags & (_IO_EOF_SEEN | _IO_ERR_SEEN)) return true;
  if (handed.bytes >= handed.asked) return false;
  return !(after->flags & _IO_EOF_SEEN) || handed.asked - handed.bytes >= after->buffer_bytes;
}

void end_stream_read(struct stream_call *call, struct handed_out handed) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state *before = &call->before, after = stream_state(call->stream);
  unlock_stream(call);
  int error = errno;
  size_t bytes = refilled_bytes(before, &after, handed), buffer = after.buffer_bytes;
  int64_t position = before->position >= 0 ? before->position + (int64_t)bytes : after.position;  // unknown at the end
  if (unlikely(before->pending > after.pending)) {  // the stream was being written: that went out first
    size_t flushed = before->pending - after.pending;
    put_stream_record(call, (struct stream_transfer){KIND_fflush, flushed, (int64_t)flushed, -1});
    position = after.position;
  }
  struct stream_transfer transfer = {(enum call_kind)call->call.kind, bytes > buffer ? bytes : buffer, (int64_t)bytes,
                                     position};
  if (bytes) {
    put_stream_record(call, transfer);
  } else if (asked_in_vain(before, &after, handed)) {
    if (!(after.flags & _IO_EOF_SEEN)) transfer.result = -(int64_t)error;
    put_stream_record(call, transfer);
  } else {
    count_buffered_call(call->call.fd);
  }
}

void end_stream_write(struct stream_call *call, size_t accepted, bool ok) {
  compiler_barrier();
  if (unlikely(!call->call.start)) return;
  struct stream_state after = stream_state(call->stream);
  unlock_stream(call);
  enum call_kind kind = (enum call_kind)call->call.kind;
  int64_t offered = (int64_t)(accepted + call->before.pending), flushed = offered - (int64_t)after.pending;
  if (unlikely(!ok && !(after.flags & kStreamNoWrites))) {
    put_stream_record(call, (struct stream_transfer){kind, (uint64_t)offered, -(int64_t)errno, -1});
  } else if (ok && flushed > 0) {
    put_stream_record(call, (struct stream_transfer){kind, (uint64_t)flushed, flushed, after.position});
  } else {
    count_buffered_call(call->call.fd);
  }
}
