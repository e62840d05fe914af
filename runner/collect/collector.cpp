// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/collector.h"

#include <algorithm>

#include "runner/collect/clock_anchor.h"
#include "runner/collect/shared_word.h"
#include "runner/util/clock.h"

namespace mlrun::collect {

namespace {
constexpr uint64_t kAnchorNs = 100'000'000;
constexpr uint64_t kFlushNs = 1'000'000'000;      // bounds the loss when the machine crashes
constexpr uint64_t kProcessBudgetNs = 5'000'000;  // per pass, for reading /proc
constexpr uint64_t kLastWritersNs = 1'000'000;    // threads get this long to finish records begun before the stop
}  // namespace

Collector::Collector(Arena& arena, Spool& spool)
    : Collector(arena, spool, ChannelClock{arena.clock_kind()}, util::stamp(arena.clock_kind())) {}

Collector::Collector(Arena& arena, Spool& spool, ChannelClock clock, uint64_t clock_before)
    : arena_(arena),
      spool_(spool),
      clock_(clock),
      pool_(arena),
      processes_(spool, clock),
      channels_(arena, spool, processes_),
      drain_(arena, pool_, spool, clock),
      clock_before_(clock_before) {}

void Collector::start() {
  do_timed_work(util::monotonic_ns());
  store(arena_.control().state, uint32_t{MLRUN_RUN});
}

void Collector::put_gap(mlrun_gap_reason reason, uint64_t first_ns, uint64_t last_ns, uint64_t count) {
  const mlrun_frame_gap gap{static_cast<__u32>(reason), 0, first_ns, last_ns, count};
  mlrun_frame frame{};
  frame.type = MLRUN_FRAME_GAP;
  frame.first = clock_before_;
  frame.last = clock_.now();
  spool_.put_report(frame, &gap, sizeof gap);
}

void Collector::record_outage(uint64_t since_ns) {
  put_gap(MLRUN_GAP_COLLECTOR, since_ns, clock_.stopped() ? since_ns : util::monotonic_ns());
}

// Prefers the times that `mlrun pause` and `mlrun resume` stored: `now_ns` is that of the pass, which comes later.
void Collector::note_pause(uint64_t now_ns) {
  const mlrun_control& control = arena_.control();
  const bool paused = load(control.state) == MLRUN_PAUSE, was_paused = pause_.goes_on();
  const uint64_t changed_ns = load(paused ? control.paused_ns : control.resumed_ns);
  if (paused && !was_paused) pause_ = {changed_ns > pause_.end_ns ? changed_ns : now_ns, LatestPause::kGoesOn};
  if (!paused && was_paused) {
    pause_.end_ns = changed_ns > pause_.begin_ns ? changed_ns : now_ns;
    put_gap(MLRUN_GAP_PAUSED, pause_.begin_ns, pause_.end_ns);
  }
}

void Collector::note_full_spool(uint64_t now_ns) {
  if (!spool_.full() || is_full_recorded_) return;
  is_full_recorded_ = true;
  store(arena_.control().state, uint32_t{MLRUN_STOP});
  const int error = spool_.stop_error();
  put_gap(error == 0 ? MLRUN_GAP_SPOOL_FULL : MLRUN_GAP_DISK_FULL, now_ns, now_ns, static_cast<uint64_t>(error));
}

void Collector::do_timed_work(uint64_t now_ns) {
  if (now_ns >= next_anchor_ns_ && !is_full_recorded_ && !clock_.stopped()) {
    next_anchor_ns_ = now_ns + kAnchorNs;
    const mlrun_frame_anchor anchor = read_clocks();
    mlrun_frame frame{};
    frame.type = MLRUN_FRAME_ANCHOR;
    frame.first = frame.last = arena_.clock_kind() == MLRUN_CLOCK_TSC ? anchor.tsc : anchor.monotonic_ns;
    spool_.put_report(frame, &anchor, sizeof anchor);
  }
  spool_.free_old(now_ns);
  if (now_ns >= next_flush_ns_) {
    next_flush_ns_ = now_ns + kFlushNs;
    spool_.flush_pages();
  }
}

// Segments in use, oldest header first, so that a thread's records are drained in the order it wrote them.
void Collector::find_owned(const Pass& pass) {
  owned_.clear();
  uint32_t used = 0;
  bool in_order = true;
  for (uint32_t i = 0, high = pool_.high(); i < high; i++) {
    const uint32_t owner_word = load(arena_.owner(i));
    const uint32_t owner = owner_word & MLRUN_OWNER_MASK;
    if (owner == 0) {
      drain_.note_free(i);
      continue;
    }
    used++;
    if (owner == MLRUN_OWNER_DESCRIPTORS) {
      channels_.add_descriptors(i);
      continue;
    }
    if (owner == MLRUN_OWNER_PREPARING) continue;
    const uint64_t header_clock = drain_.note_owner(i, owner_word, owner - 1, pass);
    Channel* channel = channels_.find(owner - 1, pass);
    if (channel != nullptr) channel->newest_clock = std::max(channel->newest_clock, header_clock);
    in_order = in_order && (owned_.empty() || owned_.back().header_clock <= header_clock);
    owned_.push_back({header_clock, i, channel});
  }
  statistics_.peak_segments = std::max(statistics_.peak_segments, used);
  if (in_order) return;
  std::sort(owned_.begin(), owned_.end(),
            [](const Owned& a, const Owned& b) { return a.header_clock < b.header_clock; });
}

Pass Collector::drain_all(bool last) {
  const Pass pass{util::monotonic_ns(), clock_.now(), clock_before_, last};
  channels_.begin_pass(pass);
  find_owned(pass);
  if (!spool_.full()) {
    for (const Owned& owned : owned_) drain_.drain(owned.segment, owned.channel, pass);
  }
  if (!last) channels_.end_pass(pass);
  if (EventSink* sink = spool_.sink()) sink->end_pass(pass.now_ns, pass.last ? UINT64_MAX : pass.clock);
  clock_before_ = pass.clock;
  return pass;
}

uint32_t Collector::pass() {
  const uint64_t released_before = pool_.released();
  drain_all(false);
  const uint64_t now_ns = util::monotonic_ns();
  note_pause(now_ns);
  note_full_spool(now_ns);
  processes_.work(now_ns, kProcessBudgetNs);
  do_timed_work(now_ns);
  pool_.extend();
  add(arena_.control().heartbeat, 1u);
  statistics_.passes++;
  return static_cast<uint32_t>(pool_.released() - released_before);
}

void Collector::stop() {
  store(arena_.control().state, uint32_t{MLRUN_STOP});
  futex_wake_all(arena_.control().space);
}

void Collector::finish(bool cut_off) {
  stop();
  pass();
  if (live_threads() > 0) {
    const timespec pause{0, kLastWritersNs};
    nanosleep(&pause, nullptr);
  }
  const Pass pass = drain_all(true);
  const uint64_t now_ns = util::monotonic_ns();
  note_pause(now_ns);
  note_full_spool(now_ns);
  statistics_.cut_off_threads = channels_.finish(pass, cut_off);
  next_anchor_ns_ = 0;
  do_timed_work(now_ns);
}

}  // namespace mlrun::collect
