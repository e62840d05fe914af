// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/thread_totals.h"

#include <cstring>
#include <string>

#include "runner/collect/frame_text.h"
#include "runner/events/alloc_class.h"
#include "runner/events/sums.h"

namespace mlrun::sums {

namespace {

// `seq` of these spool frames: bit 63 is set, which no frame written during the run has.
constexpr uint64_t kTotalsSeq = uint64_t{1} << 63;
constexpr size_t kCountedMax = size_t{1} << 14;  // processes; beyond it the counters of ended ones are combined
constexpr int64_t kMiddleOfFineClass = 8;        // in bytes; see trace/rows/counter_tracker.cpp

int64_t net_bytes(const mlrun_counter_entry& entry, int64_t mallocs, int64_t frees) {
  const auto class_bytes = static_cast<int64_t>(entry.class_bytes);
  if (entry.class_bytes < MLRUN_FINE_LIMIT_BYTES) return (mallocs - frees) * (class_bytes + kMiddleOfFineClass);
  return static_cast<int64_t>(entry.alloc_bytes - entry.free_bytes);
}

}  // namespace

void ThreadTotals::Totals::add(const Totals& other) {
  for (const auto& [class_bytes, entry] : other.classes) {
    mlrun_counter_entry& sum = classes[class_bytes];
    sum.class_bytes = class_bytes;
    sum.allocs += entry.allocs;
    sum.frees += entry.frees;
    sum.alloc_bytes += entry.alloc_bytes;
    sum.free_bytes += entry.free_bytes;
  }
  for (size_t reason = 0; reason < MLRUN_DROP_REASONS; reason++) {
    for (size_t kind = 0; kind < MLRUN_DROPPED_KINDS; kind++) drops[reason][kind] += other.drops[reason][kind];
  }
  left_out.calls += other.left_out.calls;
  left_out.bytes_read += other.left_out.bytes_read;
  left_out.bytes_written += other.left_out.bytes_written;
  left_out.time += other.left_out.time;
}

bool ThreadTotals::Totals::any() const {
  return util::all_drops(drops) != 0 || left_out.calls != 0 || !classes.empty();
}

void ThreadTotals::begin(uint64_t channel, uint32_t process, bool shown) {
  Thread& thread = threads_[channel];
  thread.process = process;
  thread.shown = shown;
  Process& of = processes_[process];
  of.live++;
  if (shown && of.channel == 0) of.channel = channel;
}

std::vector<model::AllocSmallRow> ThreadTotals::count(uint64_t channel, const mlrun_frame_counters& counters,
                                                      const mlrun_counter_entry* entries, uint32_t number) {
  std::vector<model::AllocSmallRow> rows;
  const auto thread = threads_.find(channel);
  if (thread == threads_.end()) return rows;
  Totals& totals = thread->second.totals;
  for (uint32_t i = 0; i < number; i++) {
    const mlrun_counter_entry now = entries[i];
    mlrun_counter_entry& before = totals.classes[now.class_bytes];
    model::AllocSmallRow& row = rows.emplace_back();
    row.origin.ts_ns = static_cast<int64_t>(counters.monotonic_ns);
    row.class_bytes = static_cast<int64_t>(now.class_bytes);
    row.mallocs = static_cast<int64_t>(now.allocs - before.allocs);
    row.frees = static_cast<int64_t>(now.frees - before.frees);
    row.bytes = net_bytes(now, row.mallocs, row.frees);
    if (now.class_bytes >= MLRUN_FINE_LIMIT_BYTES) row.bytes -= net_bytes(before, 0, 0);
    before = now;
  }
  return rows;
}

void ThreadTotals::drop(uint64_t channel, const util::DropCounts& totals) {
  const auto thread = threads_.find(channel);
  if (thread != threads_.end()) thread->second.totals.drops = totals;
}

void ThreadTotals::leave_out(uint64_t channel, const mlrun_left_out& totals) {
  const auto thread = threads_.find(channel);
  if (thread != threads_.end()) thread->second.totals.left_out = totals;
}

bool ThreadTotals::end(uint64_t channel) {
  const auto thread = threads_.find(channel);
  if (thread == threads_.end()) return false;
  Process& process = processes_[thread->second.process];
  process.ended.add(thread->second.totals);
  if (process.ended_channel == 0 && thread->second.shown) process.ended_channel = channel;
  const uint32_t number = thread->second.process;
  threads_.erase(thread);
  if (--process.live != 0) return false;
  if (processes_.size() > kCountedMax) {
    processes_[0].ended.add(process.ended);
    processes_.erase(number);
  }
  return true;
}

bool ThreadTotals::is_shown(uint64_t channel) const {
  const auto thread = threads_.find(channel);
  return thread != threads_.end() && thread->second.shown;
}

uint32_t ThreadTotals::process_of(uint64_t channel) const {
  const auto thread = threads_.find(channel);
  return thread == threads_.end() ? 0 : thread->second.process;
}

uint64_t ThreadTotals::channel_of(uint32_t process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? 0 : found->second.channel;
}

void ThreadTotals::write(std::string& text, uint64_t now_ns, uint64_t channel, const Totals& totals) {
  mlrun_frame_counters body{};
  body.monotonic_ns = now_ns;
  for (size_t reason = 0; reason < MLRUN_DROP_REASONS; reason++)
    body.drops[reason] = util::drops_of(totals.drops, reason);
  body.entries = static_cast<__u32>(totals.classes.size());
  std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
  for (const auto& [class_bytes, entry] : totals.classes) {
    payload.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  mlrun_frame frame{};
  frame.type = MLRUN_FRAME_COUNTERS;
  frame.channel = channel;
  frame.seq = kTotalsSeq;
  collect::append_frame(text, 0, frame, payload.data(), static_cast<uint32_t>(payload.size()));
  if (util::all_drops(totals.drops) != 0) {
    const std::string drops = util::drops_payload(now_ns, totals.drops);
    frame.type = MLRUN_FRAME_DROPS;
    frame.seq++;
    collect::append_frame(text, 0, frame, drops.data(), static_cast<uint32_t>(drops.size()));
  }
  if (totals.left_out.calls == 0) return;
  const mlrun_frame_left_out left_out{now_ns, totals.left_out};
  frame.type = MLRUN_FRAME_LEFT_OUT;
  frame.seq++;
  collect::append_frame(text, 0, frame, &left_out, sizeof left_out);
}

void ThreadTotals::write(std::string& text, uint64_t now_ns) const {
  for (const auto& [channel, thread] : threads_) {
    if (thread.totals.any()) write(text, now_ns, channel, thread.totals);
  }
  for (const auto& [number, process] : processes_) {
    if (process.ended.any()) write(text, now_ns, process.ended_channel, process.ended);
  }
}

}  // namespace mlrun::sums
