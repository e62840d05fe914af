// SPDX-License-Identifier: Apache-2.0
#include "cupti/work_time.h"

#include <stdbool.h>
#include <time.h>

#include "cupti/session.h"

static const uint64_t kRealtimeFrom = 1000000000000000000ull;  // 2001; CLOCK_MONOTONIC takes 31 years to get there
static const uint64_t kWrap = 1ull << 32;
static const uint64_t kSlackNs = 1000000;  // tolerance: CUPTI interpolates times

// Reads CLOCK_REALTIME by libc's function, as CUPTI does, even if another library replaces clock_gettime in the
// program.
static void read_realtime(struct timespec *realtime) {
  static int (*read_clock)(clockid_t, struct timespec *);
  if (!read_clock)
    read_clock = (int (*)(clockid_t, struct timespec *))session.producer->function_of_libc("clock_gettime");
  read_clock(CLOCK_REALTIME, realtime);
}

struct clock_view read_clocks(void) {
  struct timespec realtime;
  read_realtime(&realtime);
  uint64_t now = session.producer->monotonic_ns();
  return (struct clock_view){now, (uint64_t)realtime.tv_sec * 1000000000ull + (uint64_t)realtime.tv_nsec - now,
                             other_clock_now()};
}

static bool is_outside(const struct clock_view *clock, uint64_t time_ns) {
  return time_ns > clock->now_ns + kSlackNs || time_ns + kSlackNs < session.started_ns;
}

static uint64_t from_realtime(const struct clock_view *clock, uint64_t time_ns) {
  return time_ns >= kRealtimeFrom ? time_ns - clock->realtime_minus_now : time_ns;
}

// Extends a time that CUPTI truncated to 32 bits: to the latest possible time that is not in the future.
static uint64_t unwrapped(const struct clock_view *clock, uint64_t time) {
  if (time >= kWrap || time > clock->now_ns) return time;
  return time + (clock->now_ns + kSlackNs - time) / kWrap * kWrap;
}

// Corrects the end of work that began before the 32-bit counter wrapped: then it is too early by nearly 2^32 ns. An end
// that is too early by less than half of that is wrong, and stays.
static uint64_t unwrapped_end(uint64_t start, uint64_t end) {
  return end < start && start - end > kWrap / 2 && start - end < kWrap ? end + kWrap : end;
}

struct work_time settle_work_time(const struct clock_view *clock, uint64_t start, uint64_t end) {
  struct work_time now = {clock->now_ns, clock->now_ns, MLRUN_GPU_CLOCK_NONE};
  if (!start) return now;
  if (clock->other.is_used) {
    start = from_other_clock(&clock->other, start);
    end = end ? from_other_clock(&clock->other, end) : 0;
  }
  uint64_t given_start = start, given_end = end;
  start = unwrapped(clock, start);
  if (end) end = unwrapped_end(start, unwrapped(clock, end));
  bool is_wrapped = start != given_start || end != given_end;
  bool is_realtime = start >= kRealtimeFrom || end >= kRealtimeFrom;
  start = from_realtime(clock, start);
  now.clock = MLRUN_GPU_CLOCK_OUTSIDE;
  if (is_outside(clock, start)) return now;
  if (!end) return (struct work_time){start, start < clock->now_ns ? clock->now_ns : start, MLRUN_GPU_CLOCK_NO_END};
  end = from_realtime(clock, end);
  if (end < start) return (struct work_time){start, start, MLRUN_GPU_CLOCK_INVERTED};
  if (is_outside(clock, end)) return now;
  return (struct work_time){start, end,
                            is_wrapped             ? MLRUN_GPU_CLOCK_WRAPPED
                            : is_realtime          ? MLRUN_GPU_CLOCK_REALTIME
                            : clock->other.is_used ? MLRUN_GPU_CLOCK_OTHER
                                                   : MLRUN_GPU_CLOCK_MONOTONIC};
}
