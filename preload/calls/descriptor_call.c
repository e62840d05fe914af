// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/descriptor_call.h"

#include "preload/calls/capture.h"
#include "preload/core/program_memory.h"

void end_making_call(struct pending_call *call, int result) {
  compiler_barrier();
  uint64_t end = call->start ? now_ticks() : 0;
  int error = result == -1 ? errno : 0;
  fd_set_open_file(result, 0);
  if (unlikely(!call->start)) return;
  call->fd = result;
  call->open_file = open_file_of(result);
  put_call(call, end, error ? -(int64_t)error : result, 0);
}

static void note_pair(struct pending_call *call, const int fds[2], uint32_t flags) {
  fd_set_open_file(fds[0], 0);
  fd_set_open_file(fds[1], 0);
  call->fd = fds[0];
  call->arg2 = PAIR(fds[1], flags);
}

void end_pairing_call(struct pending_call *call, const int fds[2], uint32_t flags, int result) {
  if (result == 0) note_pair(call, fds, flags);
  end_call(call, result);
}

static void read_pair(int pair[2], const struct pending_call *call, const int *fds, uint64_t watch, int result) {
  bool proven = success_is_proof(result) && call_was_quiet(watch, call->start ? now_ticks() - call->start : 0);
  pair[0] = pair[1] = -1;
  if (result == 0 && !read_from_program(pair, fds, 2 * sizeof *pair, proven)) pair[0] = pair[1] = -1;
}

void end_program_pair(struct pending_call *call, const int *fds, uint64_t watch, uint32_t flags, int result) {
  int pair[2];
  read_pair(pair, call, fds, watch, result);
  end_pairing_call(call, pair, flags, result);
}

void end_socket_pair(struct pending_call *call, const int *fds, uint64_t watch, uint32_t flags, int result) {
  compiler_barrier();
  uint64_t end = call->start ? now_ticks() : 0;
  int pair[2], error = result == -1 ? errno : 0;
  read_pair(pair, call, fds, watch, result);
  if (result == 0) note_pair(call, pair, flags);
  if (unlikely(!call->start)) return;
  call->open_file = open_file_of(call->fd);
  uint32_t second = open_file_of(pair[1]);
  if (!second || second == OPEN_FILE_LEFT_OUT || call->open_file == OPEN_FILE_LEFT_OUT)
    put_call(call, end, -(int64_t)error, 0);
  else
    put_wide_call(call, end, 0, second, MLRUN_NO_OFFSET);
}

void end_duplicating_call(struct pending_call *call, int fresh, int result) {
  int old = call->fd;
  if (result >= 0 && result != old) fd_set_open_file(result, call->start ? call->open_file : known_open_file(old));
  call->fd = result >= 0 ? result : fresh;
  end_call(call, result);
}

uint64_t fcntl_number(int command, const void *argument) {
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
    case F_SETFD:
    case F_SETFL:
    case F_SETOWN:
    case F_SETSIG:
    case F_SETLEASE:
    case F_NOTIFY:
    case F_SETPIPE_SZ:
    case F_ADD_SEALS: return (uint32_t)(uintptr_t)argument;
  }
  return 0;
}

void end_fcntl(struct pending_call *call, int command, int result) {
  if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
    fd_set_open_file(result, call->start ? call->open_file : known_open_file(call->fd));
  end_call(call, result);
}
