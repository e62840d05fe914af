// SPDX-License-Identifier: Apache-2.0
// stdio: most calls only move bytes between the program and a buffer. The buffer's pointers before and after the real
// call show what the kernel was asked for. Only a call that asked the kernel has a record:
//
//   bytes read    = bytes handed out + unread after  - unread before
//   bytes flushed = bytes accepted   + pending before - pending after
//
//        read_base      read_ptr        read_end               write_base       write_ptr
//            |  handed out  |    unread     |                       |    pending    |
//
// A record's w7 counts the calls on the FILE since its last record (fd_table.h). Calls on streams without a descriptor
// and on wide-oriented ones pass through. Bytes that move in getc, putc or scanf are not seen; the next hooked call
// starts from the pointers that they leave. It finds a pointer that differs from where the last hooked call left it:
// then the next record has MLRUN_CALL_UNSEEN. For flushes at exit: dirty_streams.h.
//
// The file offset of a transfer is known here only if libc sought in the same call: `_offset` is then the result of
// lseek, and else libc's assumption, whatever else has moved the open file. Readers track the open file's position
// through all records; so every seek of libc's own is a record too (KIND_fseek), except those that move nothing.
//
// The first record of a transfer has the duration of the whole call, others of the call have none.
#pragma once

#include <stdio.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

// Flags of struct _IO_FILE that its public header does not name; the same in every glibc since 2.27.
enum stream_flag {
  kStreamUnbuffered = 0x2,
  kStreamLineBuffered = 0x200,
  kStreamNoReads = 0x4,
  kStreamNoWrites = 0x8,
  kStreamInBackup = 0x100,
  kStreamIsWriting = 0x800,
  kStreamAppends = 0x1000,
  kStreamIsFile = 0x2000
};
enum { kStreamNeedsLock = 0x80 };  // in _flags2: the process has had a second thread

struct stream_state {
  const char *read_base, *read_ptr, *read_end, *write_ptr;
  size_t unread, pending, buffer_bytes;
  int64_t read_ahead;  // bytes over which libc seeks back before it writes pending bytes
  int64_t position;    // of the file, after the moved bytes; -1: stdio does not know it
  int flags;
};

struct stream_call {
  struct pending_call call;  // form kCallOnStream
  FILE *stream;
  FILE *locked;  // the stream, if we took its lock: no other thread may change it between `before` and the end
  bool unseen;   // the stream may have moved unseen before the call
  struct stream_state before;
};

enum stream_locking { kLockStream, kStreamIsLocked };

// -1: the stream has none (fmemopen, fopencookie), or is no file and its field means nothing (open_memstream).
static inline int stream_descriptor(const FILE *stream) {
  return stream->_flags & kStreamIsFile && stream->_fileno >= 0 ? stream->_fileno : -1;
}

// The stream's present state; `pending` without the bytes that were recorded when the process began to exit.
struct stream_state stream_state(FILE *stream);
size_t recorded_at_exit(const FILE *stream, size_t pending);  // how many of the pending bytes were recorded at exit
extern int streams_recorded_at_exit;                          // 0 before the process begins to exit

// Stamps and links the call and takes the stream's lock if the real call will.
void begin_stream_call(struct stream_call *call, FILE *stream, enum call_kind kind, enum stream_locking locking);

// What a reading call returned to the program.
struct handed_out {
  size_t bytes;
  bool is_least;  // `bytes` is a minimum: the text may contain a 0
  size_t asked;   // bytes that the call would have taken, if known
};
void end_stream_read(struct stream_call *call, struct handed_out handed);

// accepted: bytes from the program; ok: the call did not fail.
void end_stream_write(struct stream_call *call, size_t accepted, bool ok);

// The same for a call that gives the stream another buffer; without a flush it is not counted as a buffered call.
void end_stream_buffer(struct stream_call *call, bool ok);

// errno that a seek back by `bytes` will fail with, or 0: libc writes nothing after a failed seek.
int error_of_seek_back(int fd, int64_t bytes);

// How far a call that synchronises the stream moves its file back now: over what was read ahead. 0 if it cannot seek.
int64_t bytes_given_back(FILE *stream);

// A transfer of bytes, for calls that do more to a stream than read or write it.
struct stream_transfer {
  enum call_kind kind;
  uint64_t requested;
  int64_t result;    // bytes, or -errno
  int64_t position;  // after them, if libc sought in this call; else -1
};
// Writes the record of a transfer. Later records of the same call begin at this one's end.
void put_stream_record(struct stream_call *call, struct stream_transfer transfer);

// libc moved the position of the file: by `offset` from `whence`; position: the kernel's position now, -1: only the
// distance `offset` is known. result: 0 or -errno. The record has the call's duration, unless a transfer follows.
struct stream_seek {
  int64_t offset, position, result;
  int whence;
  bool transfer_follows;
};
void put_stream_seek(struct stream_call *call, struct stream_seek seek);

// Stores in fd_entry.last_place where the call left the stream. recorded: the call has a record, so that moves unseen
// before it are reported.
void note_stream_place(const struct stream_call *call, const struct stream_state *after, bool recorded);

// The fd_entry.last_place of a stream with this pointer and position (stream_state).
uint32_t stream_place(const char *pointer, int64_t position);

// Whether the stream may have moved since the last seen call.
bool stream_moved_unseen(int fd, const struct stream_state *state);
void unlock_stream(struct stream_call *call);
uint32_t take_buffered_calls(int fd);  // calls since the last record, this one included; resets the count

INLINE void count_buffered_call(int fd) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (likely(entry && !in_vfork_child())) entry->buffered_calls++;
}

// The same for a call that moved the stream's pointer by `bytes` within the buffer.
INLINE void count_call_in_buffer(int fd, size_t bytes) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (unlikely(!entry || in_vfork_child())) return;
  entry->buffered_calls++;
  entry->last_place += (uint32_t)bytes;
}

INLINE void leave_stream_call(struct stream_call *call) { leave_call(&call->call); }
#define STREAM_CALL_CLEANUP __attribute__((cleanup(leave_stream_call)))

#pragma GCC visibility pop
