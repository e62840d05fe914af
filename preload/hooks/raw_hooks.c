// SPDX-License-Identifier: Apache-2.0
#include "preload/hooks/raw_hooks.h"

#include <linux/futex.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#define TRACE_FLAGS MLRUN_CALL_RAW
#include "preload/calls/trace_forms.h"

const bool raw_call_is_known[kRawNumbers] = {
    [SYS_openat2] = true,
    [SYS_futex] = true,
#define RAW(number, ...) [number] = true,
#include "runner/events/hooks.def"
};

static COLD long traced_openat2(syscall_function real, int dirfd, const char *path, const struct open_how *how,
                                size_t bytes) {
  struct path_call call PATH_CALL_CLEANUP = {.call = {.kind = KIND_openat, .fd = dirfd, .flags = MLRUN_CALL_RAW},
                                             .path = path,
                                             .opens = true,
                                             .looks_up = true};
  struct open_how used;
  begin_path_call(&call);
  long result = real(SYS_openat2, dirfd, path, how, bytes);
  if (call.call.start && result >= 0 && read_from_program(&used, how, sizeof used, false))
    call.call.requested = PAIR(used.flags, used.mode);
  end_path_call(&call, result);
  return result;
}

enum { kFutexLockPi2 = 13 };  // since Linux 5.14; the headers may be older

#define RAW_BODY(number, name, ...) TRACE(KIND_##name, long, real(number, a, b, c, d, e, f), __VA_ARGS__)

static long futex_wait(syscall_function real, long a, long b, long c, long d, long e, long f) {
  RAW_BODY(SYS_futex, futex, AWAITS(b, a))
}

static long futex_lock(syscall_function real, long a, long b, long c, long d, long e, long f) {
  RAW_BODY(SYS_futex, futex, WAITS(b, a))
}

// Posts do not come here (note_futex_post). Waits that a requeue has moved wait for posts on another futex than the one in
// their record: their poster is unknown.
static long traced_futex(syscall_function real, long a, long b, long c, long d, long e, long f) {
  switch (b & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: return futex_wait(real, a, b, c, d, e, f);
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case kFutexLockPi2: return futex_lock(real, a, b, c, d, e, f);
  }
  return real(SYS_futex, a, b, c, d, e, f);
}

long traced_raw_call(syscall_function real, long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
    case SYS_openat2: return traced_openat2(real, (int)a, (const char *)b, (const struct open_how *)c, (size_t)d);
    case SYS_futex: return traced_futex(real, a, b, c, d, e, f);
#define RAW(number, name, capture)  \
  case number: {                    \
    RAW_BODY(number, name, capture) \
  }
#include "runner/events/hooks.def"
  }
  return real(number, a, b, c, d, e, f);
}
