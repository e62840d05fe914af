// SPDX-License-Identifier: Apache-2.0
// Tests the conversion of another tool's clock to ours with simulated clocks: each reading takes a while, the machine
// stalls during some readings, and the result is compared with the simulated time.
#include "cupti/other_clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cupti/session.h"
#include "cupti/work_time.h"

static const uint64_t kSecond = 1000000000, kHour = 3600 * 1000000000ull;
// Reading a clock takes 10 to 40 ns. A sample is the middle of two readings of ours, with theirs in between, so without
// a stall it is off by half of the difference of the two, 15 ns.
enum { kReadNs = 10, kReadVariesNs = 31, kSampleNs = 15, kStillNs = 5000000 };

struct session session;
static uint64_t world_ns, seed = 1;
static uint32_t still_calls;  // bit n: the machine stalls before the n-th reading of their clock from now on

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                \
    }                                                         \
  } while (0)

static void take_time(void) {
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  world_ns += kReadNs + (seed >> 33) % kReadVariesNs;
}

static __u64 monotonic_ns(void) {
  take_time();
  return world_ns;
}
static void (*function_of_libc(const char *name))(void) { return (void (*)(void))dlsym(RTLD_DEFAULT, name); }
static const struct mlrun_producer producer = {.monotonic_ns = monotonic_ns, .function_of_libc = function_of_libc};

// A tick takes numerator / denominator ns.
struct made_clock {
  uint64_t offset, numerator, denominator;
};
static const struct made_clock *made;

static uint64_t ticks_at(const struct made_clock *clock, uint64_t time_ns) {
  return clock->offset + (uint64_t)((unsigned __int128)time_ns * clock->denominator / clock->numerator);
}
static uint64_t their_time(void) {
  take_time();
  if (still_calls & 1) world_ns += kStillNs;
  still_calls >>= 1;
  return ticks_at(made, world_ns);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// At most so far from the world's time.
static void check_near(const struct made_clock *clock, uint64_t time_ns, uint64_t most_ns) {
  struct other_clock now = other_clock_now();
  uint64_t seen_ns = from_other_clock(&now, ticks_at(clock, time_ns));
  if (distance(seen_ns, time_ns) <= most_ns) return;
  fprintf(stderr, "%lu became %lu, allowed are %lu ns\n", time_ns, seen_ns, most_ns);
  exit(1);
}

static void begin(const struct made_clock *clock, uint64_t at_ns) {
  made = clock;
  world_ns = at_ns;
  session = (struct session){.producer = &producer, .started_ns = at_ns};
  set_other_clock(their_time);
  CHECK(!other_clock_now().is_used);  // one sample gives no rate
}

// Between the first sample and the newest a time is as good as the worse of the two; behind it, it can be off by what both
// are, as far behind as they are apart.
static void check_sessions(const struct made_clock *clock) {
  uint64_t tick_ns = 1 + clock->numerator / clock->denominator, within_ns = kSampleNs + tick_ns;
  const uint64_t starts[] = {5 * kSecond, 400 * kHour, 20000 * kHour};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    begin(clock, starts[i]);
    for (int second = 1; second <= 600; second++) {
      world_ns = starts[i] + (uint64_t)second * kSecond;
      still_calls = 0x1f & ~(1u << second % 5);  // one of five tries is good
      sample_other_clock();
      still_calls = 0;
      CHECK(other_clock_now().is_used);
      for (uint64_t back = 0; back <= (uint64_t)second; back += 1 + (uint64_t)second / 7)
        check_near(clock, starts[i] + kSecond * ((uint64_t)second - back) + 1000, within_ns);
      check_near(clock, world_ns + kSecond, 3 * within_ns);
    }
  }
}

// A sample that was spoilt in all of its tries is off by no more than the half of how long it took.
static void check_spoilt_sample(const struct made_clock *clock) {
  begin(clock, kHour);
  world_ns += 10 * kSecond;
  still_calls = 0x1f;
  sample_other_clock();
  CHECK(still_calls == 0);
  check_near(clock, kHour + 5 * kSecond, kStillNs / 2 + kSampleNs + 2);
  world_ns += kSecond;
  sample_other_clock();
  check_near(clock, kHour + 5 * kSecond, kSampleNs + 2);  // the next sample is as good as before
}

// A clock that stops or goes back gives no rate; the previous rate is kept.
static void check_bad_clock(const struct made_clock *clock) {
  static const struct made_clock stopped = {7, UINT64_MAX, 1};
  begin(&stopped, kHour);
  world_ns += kSecond;
  sample_other_clock();
  CHECK(!other_clock_now().is_used);
  begin(clock, kHour);
  world_ns += kSecond;
  sample_other_clock();
  struct other_clock before = other_clock_now();
  static const struct made_clock back = {0, UINT64_MAX, 1};
  made = &back;
  world_ns += kSecond;
  sample_other_clock();
  struct other_clock after = other_clock_now();
  CHECK(after.is_used && after.their_now == before.their_now && after.our_now_ns == before.our_now_ns);
}

// What a record becomes: its time by the clock, its length, and the mark. One that is not on that clock is not believed.
static void check_records(const struct made_clock *clock) {
  begin(clock, kHour);
  world_ns += 10 * kSecond;
  sample_other_clock();
  struct clock_view view = read_clocks();
  uint64_t start_ns = kHour + 3 * kSecond, within_ns = kSampleNs + 1 + clock->numerator / clock->denominator;
  for (uint64_t length_ns = 1000; length_ns <= kSecond; length_ns *= 10) {
    struct work_time time = settle_work_time(&view, ticks_at(clock, start_ns), ticks_at(clock, start_ns + length_ns));
    CHECK(time.clock == MLRUN_GPU_CLOCK_OTHER && distance(time.start_ns, start_ns) <= within_ns);
    CHECK(distance(time.end_ns - time.start_ns, length_ns) <= within_ns);
  }
  CHECK(settle_work_time(&view, ticks_at(clock, start_ns), 0).clock == MLRUN_GPU_CLOCK_NO_END);
  CHECK(settle_work_time(&view, 0, 0).clock == MLRUN_GPU_CLOCK_NONE);
  uint64_t before_start = ticks_at(clock, kHour - kSecond), later = ticks_at(clock, world_ns + kSecond);
  CHECK(settle_work_time(&view, before_start, before_start).clock == MLRUN_GPU_CLOCK_OUTSIDE);
  CHECK(settle_work_time(&view, later, later).clock == MLRUN_GPU_CLOCK_OUTSIDE);
  uint64_t end = ticks_at(clock, start_ns - kSecond);
  CHECK(settle_work_time(&view, ticks_at(clock, start_ns), end).clock == MLRUN_GPU_CLOCK_INVERTED);
}

int main(void) {
  sample_other_clock();  // none is registered
  CHECK(!other_clock_now().is_used);
  static const struct made_clock clocks[] = {
      {123456789012345, 5, 12},                    // a counter of 2.4 GHz that has run for long
      {0, 1000000, 3100007},                       // one of 3.100007 GHz, from zero
      {1700000000000000000ull, 1, 1},              // CLOCK_REALTIME
      {1700000000000000000ull, 1000000, 1000050},  // that, 50 ppm fast
      {42, 1000, 1},                               // microseconds
      {1ull << 62, 125, 8},                        // a timer of 64 MHz, far on
  };
  for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
    check_sessions(&clocks[i]);
    check_records(&clocks[i]);
  }
  check_spoilt_sample(&clocks[0]);
  check_bad_clock(&clocks[0]);
  printf("%zu clocks: times within %d ns and a tick\n", sizeof clocks / sizeof clocks[0], kSampleNs);
  return 0;
}
