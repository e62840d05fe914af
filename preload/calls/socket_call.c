// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/socket_call.h"

#include <string.h>
#include <sys/socket.h>

#include "preload/base/raw_syscall.h"
#include "preload/calls/descriptor_call.h"
#include "preload/core/program_memory.h"

enum { kUnitText = MLRUN_UNIT_BYTES - 1, kHeadUnits = 2, kMax = MLRUN_SOCKET_ADDRESS_MAX, kAcceptedShift = 24 };

struct ends {
  uint32_t own_bytes, other_bytes, peer_pid;
  bool accepted;
  char bytes[2 * kMax];  // both addresses, one behind the other
};

// Gets an address of the socket from the kernel, into `at`. Returns its bytes; 0: there is none.
static uint32_t ask(long number, int fd, char *at) {
  socklen_t bytes = kMax;
  if (raw_syscall3(number, fd, (long)at, (long)&bytes) < 0) return 0;
  return bytes < kMax ? bytes : kMax;
}

static uint32_t pid_behind(int fd) {
  struct ucred peer = {0};
  socklen_t bytes = sizeof peer;
  long result = raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes, 0);
  return result < 0 || peer.pid < 0 ? 0 : (uint32_t)peer.pid;
}

static bool is_local(const struct ends *ends) {
  sa_family_t family = AF_UNSPEC;
  if (ends->own_bytes >= sizeof family) memcpy(&family, ends->bytes, sizeof family);
  return family == AF_UNIX;
}

static void write_units(char *unit, const char *text, size_t bytes) {
  for (; bytes; unit += MLRUN_UNIT_BYTES) {
    size_t part = bytes < kUnitText ? bytes : kUnitText;
    memset(unit, 0, MLRUN_UNIT_BYTES);
    memcpy(unit + 1, text, part);
    text += part;
    bytes -= part;
  }
}

static void put_ends(const struct pending_call *call, uint64_t end, const struct ends *ends) {
  size_t bytes = ends->own_bytes + ends->other_bytes;
  uint32_t units = kHeadUnits + (uint32_t)((bytes + kUnitText - 1) / kUnitText);
  uint8_t lap;
  uint64_t *w = reserve(units * MLRUN_UNIT_BYTES, MLRUN_SOCKET, &lap);
  if (!w) return;
  w[1] = call->start;
  w[2] = (uint64_t)ends->own_bytes << 8 | (uint64_t)ends->other_bytes << 16 |
         (uint64_t)ends->accepted << kAcceptedShift | (uint64_t)ends->peer_pid << 32;
  w[3] = end - call->start;
  write_units((char *)(w + 4), ends->bytes, bytes);
  publish(w, lap, units, MLRUN_SOCKET, call->open_file);
}

static bool has_name(const struct pending_call *call) {
  return call->open_file && call->open_file != OPEN_FILE_LEFT_OUT && recording_system_calls_allowed();
}

void end_accept(struct pending_call *call, int result) {
  end_making_call(call, result);
  if (result < 0 || !call->start || !has_name(call)) return;
  uint64_t end = now_ticks();
  struct ends ends = {.accepted = true};
  ends.own_bytes = ask(SYS_getsockname, result, ends.bytes);
  ends.other_bytes = ask(SYS_getpeername, result, ends.bytes + ends.own_bytes);
  if (is_local(&ends)) ends.peer_pid = pid_behind(result);
  put_ends(call, end, &ends);
}

void end_connect(struct pending_call *call, const void *address, size_t bytes, int result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  int error = result == -1 ? errno : 0;
  put_call(call, end, -(int64_t)error, 0);
  if ((error && error != EINPROGRESS) || !has_name(call)) return;
  struct ends ends = {.accepted = false};
  ends.own_bytes = ask(SYS_getsockname, call->fd, ends.bytes);
  char *other = ends.bytes + ends.own_bytes;
  ends.other_bytes = ask(SYS_getpeername, call->fd, other);
  if (!ends.other_bytes && bytes <= kMax && read_from_program(other, address, bytes, false))
    ends.other_bytes = (uint32_t)bytes;
  put_ends(call, end, &ends);
}
