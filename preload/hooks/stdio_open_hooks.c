// SPDX-License-Identifier: Apache-2.0
// stdio calls that make or end a FILE. The flush of a fclose or freopen is a record of its own.
#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/path_call.h"
#include "preload/calls/stream_call.h"

// libc's O_ flags for a mode, as word 3 of a call that opens. If there is a stream libc has read the mode, by loads of
// its own; 0: it cannot be read any more.
static uint64_t open_words(const struct path_call *call, const char *mode, const FILE *stream) {
  enum { kModeBytes = 16 };
  char copy[kModeBytes] = {0};
  size_t bytes;
  bool proven =
      stream && success_is_proof(stream->_fileno) && call_was_quiet(call->watch, now_ticks() - call->call.start);
  if (!proven) {
    if (!copy_string_from_program(copy, mode, kModeBytes - 1, &bytes)) return 0;
    copy[bytes] = 0;
    mode = copy;
  }
  int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
  for (const char *letter = mode + 1; *letter && *letter != ','; letter++) {
    if (*letter == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*letter == 'x') flags |= O_EXCL;
    if (*letter == 'e') flags |= O_CLOEXEC;
  }
  return PAIR(flags, 0666);
}

static FILE *traced_fopen(FILE *(*real)(const char *, const char *), const char *path, const char *mode) {
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_fopen, .call.fd = AT_FDCWD, .path = path, .opens = true, .looks_up = true};
  begin_path_call(&call);
  FILE *stream = real(path, mode);
  if (call.call.start) call.call.requested = open_words(&call, mode, stream);
  end_path_call(&call, stream ? stream->_fileno : -1);
  return stream;
}

EXPORT FILE *fopen(const char *path, const char *mode) {
  REAL(FILE *, fopen, const char *, const char *);
  return traced_fopen(real, path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode) {
  REAL(FILE *, fopen64, const char *, const char *);
  return traced_fopen(real, path, mode);
}

// A new stream on `fd`, which has no buffer yet.
static void begin_stream_of(int fd) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (entry && !in_vfork_child()) entry->last_place = 0;
}

// The O_ flags for the mode that a stream was opened with.
static uint64_t flags_of_stream(const FILE *stream) {
  uint64_t way = stream->_flags & kStreamNoReads ? O_WRONLY : stream->_flags & kStreamNoWrites ? O_RDONLY : O_RDWR;
  return way | (stream->_flags & kStreamAppends ? O_APPEND : 0);
}

EXPORT FILE *fdopen(int fd, const char *mode) {
  REAL(FILE *, fdopen, int, const char *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_fdopen, .fd = fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  FILE *stream = real(fd, mode);
  if (stream) begin_stream_of(fd);
  if (stream) call.arg2 = flags_of_stream(stream);
  end_call(&call, stream ? fd : -1);
  return stream;
}

// A stream's file before a call that closes it.
struct ended_file {
  uint32_t open_file, calls;  // buffered calls since its last record, this one included
  size_t pending;
  int64_t read_ahead;  // bytes over which libc seeks back before it writes
  int seek_error;      // expected errno of that seek: libc then writes nothing; 0: it succeeds
  int fd;              // -1: the stream has none
  bool unseen;         // the stream may have moved unseen
};

static struct ended_file end_of_file(FILE *stream, bool recorded) {
  struct ended_file file = {.fd = stream_descriptor(stream)};
  if (file.fd < 0) return file;
  if (recorded) {
    file.open_file = open_file_of(file.fd);
    file.calls = take_buffered_calls(file.fd);
    if (stream->_mode <= 0) {
      const struct stream_state state = stream_state(stream);
      file.pending = state.pending;
      file.read_ahead = state.read_ahead;
      if (file.pending) file.seek_error = error_of_seek_back(file.fd, file.read_ahead);
      file.unseen = stream_moved_unseen(file.fd, &state);
    }
  }
  fd_set_open_file(file.fd, 0);
  return file;
}

// The record of a seek of libc's own, back over `bytes` of read-ahead. error: its errno, or 0.
static void put_seek_back(const struct ended_file *file, uint64_t start, int64_t bytes, int error, uint64_t flags) {
  struct pending_call seek = {.start = start,
                              .kind = KIND_fseek,
                              .fd = file->fd,
                              .open_file = file->open_file,
                              .requested = (uint64_t)-bytes,
                              .offset = MLRUN_NO_OFFSET,
                              .arg2 = SEEK_CUR};
  put_call(&seek, start, -(int64_t)error, flags);
}

// The record of the call's flush, if any. error: errno of the call, or 0.
static void put_last_flush(const struct ended_file *file, uint64_t start, uint64_t end, int error) {
  if (!file->pending) return;
  uint64_t flags = MLRUN_CALL_STDIO | (file->unseen ? MLRUN_CALL_UNSEEN : 0);
  if (file->read_ahead) {
    put_seek_back(file, start, file->read_ahead, file->seek_error, flags);
    flags = MLRUN_CALL_STDIO;
  }
  struct pending_call flush = {.start = start,
                               .kind = KIND_fflush,
                               .fd = file->fd,
                               .open_file = file->open_file,
                               .requested = file->pending,
                               .offset = MLRUN_NO_OFFSET,
                               .arg2 = file->calls};
  if (file->seek_error) error = file->seek_error;
  put_call(&flush, end, error ? -(int64_t)error : (int64_t)file->pending, flags);
}

static int traced_fclose(int (*real)(FILE *), FILE *stream, enum call_kind kind) {
  struct pending_call call CALL_CLEANUP = {
      .kind = (uint16_t)kind, .fd = stream_descriptor(stream), .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  struct ended_file file = end_of_file(stream, call.start);
  if (file.fd < 0) call.start = 0;
  int result = real(stream);
  if (!call.start) return result;
  uint64_t end = now_ticks();
  int error = result == -1 ? errno : 0;
  put_last_flush(&file, call.start, end, error);
  if (file.pending)
    call.start = end;  // the duration is counted once
  else
    call.arg2 = file.calls - 1;
  put_call(&call, end, error ? -(int64_t)error : result, MLRUN_CALL_STDIO);
  return result;
}

EXPORT int fclose(FILE *stream) {
  REAL(int, fclose, FILE *);
  return traced_fclose(real, stream, KIND_fclose);
}

EXPORT int pclose(FILE *stream) {
  REAL(int, pclose, FILE *);
  return traced_fclose(real, stream, KIND_pclose);
}

typedef FILE *(*freopen_function)(const char *, const char *, FILE *);

static FILE *traced_freopen(freopen_function real, const char *path, const char *mode, FILE *stream) {
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_freopen, .call.fd = AT_FDCWD, .path = path, .looks_up = true};
  begin_path_call(&call);
  int64_t given_back = call.call.start ? bytes_given_back(stream) : 0;
  struct ended_file file = end_of_file(stream, call.call.start);
  int errno_before = errno;
  if (file.pending) errno = 0;  // shows a failed flush: the call itself may succeed
  FILE *result = real(path, mode, stream);
  int fd = result ? result->_fileno : -1, flush_error = result && file.pending ? errno : 0;
  if (file.pending && !errno) errno = errno_before;
  if (call.call.start) {
    uint64_t end = now_ticks();
    put_last_flush(&file, call.call.start, end, flush_error);
    if (given_back > 0)
      put_seek_back(&file, call.call.start, given_back, 0, MLRUN_CALL_STDIO | (file.unseen ? MLRUN_CALL_UNSEEN : 0));
    if (file.pending) call.call.start = end;
    call.call.requested = open_words(&call, mode, result);
  }
  call.opens = path;
  if (path)
    end_path_call(&call, fd);
  else
    end_unnamed_open(&call, fd);
  return result;
}

EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream) {
  REAL(FILE *, freopen, const char *, const char *, FILE *);
  return traced_freopen(real, path, mode, stream);
}

EXPORT FILE *freopen64(const char *path, const char *mode, FILE *stream) {
  REAL(FILE *, freopen64, const char *, const char *, FILE *);
  return traced_freopen(real, path, mode, stream);
}
