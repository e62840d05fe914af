// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/dirty_streams.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/real_function.h"
#include "preload/record/channel.h"

// The initial stdout and stderr, exported since 2.2.5 and declared in no public header. They are never freed.
extern FILE _IO_2_1_stdout_, _IO_2_1_stderr_;

static bool begin_flush(struct dirty_streams *dirty) {
  dirty->count = dirty->left_out = 0;
  dirty->call = (struct stream_call){.call = {.kind = KIND_fflush, .form = kCallOnStream, .fd = -1}};
  dirty->call.call.start = file_stamp();
  return dirty->call.call.start;
}

static void note_stream(struct dirty_streams *dirty, FILE *stream) {
  const struct stream_state state = stream_state(stream);
  if (!state.pending || stream_descriptor(stream) < 0 || stream->_mode > 0) return;
  bool unseen = stream_moved_unseen(stream->_fileno, &state), follows = state.position >= 0 && !state.read_ahead;
  int64_t position = follows ? state.position + (int64_t)state.pending : -1;
  if (dirty->count < kDirtyStreamsMax)
    dirty->streams[dirty->count++] = (struct dirty_stream){.stream = stream,
                                                           .fd = stream->_fileno,
                                                           .unseen = unseen,
                                                           .empty_place = stream_place(stream->_IO_buf_base, position),
                                                           .pending = state.pending,
                                                           .read_ahead = state.read_ahead};
  else
    dirty->left_out++;
}

// libc's list of all streams, like its lock: exported since 2.2.5, declared in no public header.
static FILE *first_stream(void) {
  static FILE **all;
  if (!all) all = libc_variable("_IO_list_all");
  return all ? *all : NULL;
}

static void note_all_streams(struct dirty_streams *dirty) {
  for (FILE *stream = first_stream(); stream; stream = stream->_chain) note_stream(dirty, stream);
}

static void count_unseen(const struct dirty_streams *dirty) {
  for (int i = 0; i < dirty->left_out; i++) count_failure(MLRUN_FAIL_STREAMS);
}

void begin_flush_all(struct dirty_streams *dirty) {
  if (!begin_flush(dirty)) return;
  LIBC(void, _IO_list_lock, void);
  LIBC(void, _IO_list_unlock, void);
  libc__IO_list_lock();
  note_all_streams(dirty);
  libc__IO_list_unlock();
}

// Writes one stream's records. The first stream's begin when the call begins, each other's where the previous stream's
// end. seek_error: errno of the seek back over what was read ahead, or 0.
static void put_flush(struct dirty_streams *dirty, const struct dirty_stream *stream, int seek_error, int64_t result) {
  struct stream_call *call = &dirty->call;
  call->call.fd = stream->fd;
  call->unseen = stream->unseen;
  if (stream->read_ahead)
    put_stream_seek(
        call, (struct stream_seek){-stream->read_ahead, -1, -(int64_t)seek_error, SEEK_CUR, .transfer_follows = true});
  put_stream_record(call, (struct stream_transfer){KIND_fflush, stream->pending, result, -1});
}

// Marks the streams that the call could not write. libc keeps the bytes if it could not seek back, and drops them if it
// could not write them.
static void note_failures(struct dirty_streams *dirty) {
  LIBC(void, _IO_list_lock, void);
  LIBC(void, _IO_list_unlock, void);
  libc__IO_list_lock();
  for (FILE *stream = first_stream(); stream; stream = stream->_chain)
    for (int i = 0; i < dirty->count; i++)
      if (dirty->streams[i].stream == stream && (stream->_flags & _IO_ERR_SEEN || stream_state(stream).pending))
        dirty->streams[i].failed = true;
  libc__IO_list_unlock();
}

void end_flush_all(struct dirty_streams *dirty, bool ok) {
  int error = errno;
  count_unseen(dirty);
  if (!ok) note_failures(dirty);
  for (int i = 0; i < dirty->count; i++) {
    const struct dirty_stream *stream = &dirty->streams[i];
    int seek_error = stream->failed ? error_of_seek_back(stream->fd, stream->read_ahead) : 0;
    put_flush(dirty, stream, seek_error, stream->failed ? -(int64_t)error : (int64_t)stream->pending);
    struct fd_entry *entry = fd_entry_of(stream->fd);
    if (!stream->failed && entry && !in_vfork_child()) entry->last_place = stream->empty_place;
  }
}

// Streams covered by records at exit: a later flush by a library that is unloaded after this one is not recorded twice.
static struct dirty_streams at_exit;
int streams_recorded_at_exit;

// Bytes in the stream's buffer that a record at exit covers: fewer once some are flushed. Bytes added later never count.
COLD size_t recorded_at_exit(const FILE *stream, size_t pending) {
  for (int i = 0; i < streams_recorded_at_exit; i++) {
    struct dirty_stream *recorded = &at_exit.streams[i];
    if (recorded->stream != stream) continue;
    if (recorded->pending > pending) recorded->pending = pending;
    return recorded->pending;
  }
  return 0;
}

// /proc/self/task has a link for each thread, beside the two of every folder.
static bool is_only_thread(void) {
  struct stat status;
  if (!(_IO_2_1_stdout_._flags2 & kStreamNeedsLock)) return true;
  return raw_syscall2(SYS_stat, (long)"/proc/self/task", (long)&status) == 0 && status.st_nlink == 3;
}

static void record_stream_at_exit(const struct dirty_stream *stream) {
  at_exit.call.call.start = now_ticks();
  int64_t error = raw_syscall2(SYS_fcntl, stream->fd, F_GETFD), result = (int64_t)stream->pending;
  int seek_error = error_of_seek_back(stream->fd, stream->read_ahead);
  if (seek_error) error = -seek_error;
  put_flush(&at_exit, stream, seek_error, error < 0 ? error : result);
}

// Records libc's seek back over what was read ahead: it moves the position for other processes that share the open file.
static void record_given_back(FILE *stream) {
  bool is_kept = stream->_flags & kStreamUnbuffered || stream->_mode == 0;  // libc does not seek these streams
  int64_t ahead = is_kept ? 0 : bytes_given_back(stream);
  if (ahead == 0) return;
  const struct stream_state state = stream_state(stream);
  at_exit.call.call.fd = stream->_fileno;
  at_exit.call.call.start = now_ticks();
  at_exit.call.unseen = stream_moved_unseen(stream->_fileno, &state);
  put_stream_seek(&at_exit.call, (struct stream_seek){-ahead, -1, 0, SEEK_CUR, false});
}

// libc's list is read without its lock, as libc itself does at the end: a thread that was stopped inside fflush(NULL)
// may hold it for ever. With other threads alive, any of which may close a stream now, only streams that cannot be
// freed are read.
void record_flush_at_exit(void) {
  if (!recording_system_calls_allowed() || !begin_flush(&at_exit)) return;
  at_exit.call.call.flags = MLRUN_CALL_AT_EXIT;
  if (is_only_thread()) {
    note_all_streams(&at_exit);
  } else {
    note_stream(&at_exit, &_IO_2_1_stdout_);
    note_stream(&at_exit, &_IO_2_1_stderr_);
  }
  count_unseen(&at_exit);
  for (int i = 0; i < at_exit.count; i++) record_stream_at_exit(&at_exit.streams[i]);
  if (process.forked && is_only_thread())
    for (FILE *stream = first_stream(); stream; stream = stream->_chain) record_given_back(stream);
  __atomic_store_n(&streams_recorded_at_exit, at_exit.count, __ATOMIC_RELEASE);
}
