// SPDX-License-Identifier: Apache-2.0
// Serialises the sums as sums.bin.
#include <algorithm>
#include <numeric>

#include "runner/collect/frame_text.h"
#include "runner/sums/event_sums.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"

namespace mlrun::sums {

namespace {

constexpr uint64_t kLongestPauseNs = 10'000'000'000;
constexpr uint64_t kPauseTimes = 50;                      // pauses at least this many times as long as the write took
constexpr uint64_t kFirstSeq = (uint64_t{1} << 63) + 16;  // lower numbers are for frames of threads and heaps
constexpr size_t kPayloadBytes = 256 << 10;
constexpr mode_t kMode = 0600;

mlrun_frame frame_of(mlrun_frame_type type, uint64_t channel, uint64_t seq) {
  mlrun_frame frame{};
  frame.type = static_cast<__u16>(type);
  frame.channel = channel;
  frame.seq = seq;
  frame.lap = 1;
  return frame;
}

template <typename Item>
void append_items(std::string& payload, const Item* items, size_t count) {
  payload.append(reinterpret_cast<const char*>(items), count * sizeof(Item));
}

template <typename Body, typename Item>
void append_list(std::string& text, const mlrun_frame& frame, const Body& body, const std::vector<Item>& items) {
  std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
  payload.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item));
  collect::append_frame(text, 0, frame, payload.data(), static_cast<uint32_t>(payload.size()));
}

void append_cell(std::string& payload, const Cell& cell) {
  mlrun_sum sum = cell.sum;
  sum.time_buckets = static_cast<__u16>(cell.times.size());
  sum.size_buckets = static_cast<__u16>(cell.sizes.size());
  const size_t record_bytes = size_t{sum.record_units} * MLRUN_UNIT_BYTES;
  const size_t bucket_bytes = (cell.times.size() + cell.sizes.size()) * sizeof(mlrun_sum_bucket);
  sum.bytes = static_cast<__u32>(sizeof sum + record_bytes + bucket_bytes);
  payload.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  payload.append(reinterpret_cast<const char*>(cell.record.data()), record_bytes);
  for (const auto* buckets : {&cell.times, &cell.sizes}) {
    payload.append(reinterpret_cast<const char*>(buckets->data()), buckets->size() * sizeof(mlrun_sum_bucket));
  }
}

void append_stretch(std::string& payload, const StretchSum& of) {
  mlrun_sum sum{};
  sum.bytes = sizeof sum;
  sum.stretch = of.stretch;
  sum.flags = MLRUN_SUM_OF_STRETCH;
  sum.calls = of.calls;
  sum.moved = of.moved;
  sum.written = of.written;
  sum.time = of.ticks;
  payload.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

// Appends frames with sums to a text. A frame has sums of one channel, that is, of one process.
class SumFrames {
 public:
  explicit SumFrames(std::string& text) : text_(text) {}
  ~SumFrames() { flush(); }
  SumFrames(const SumFrames&) = delete;
  SumFrames& operator=(const SumFrames&) = delete;

  std::string& payload_of(uint64_t channel) {
    if (channel != channel_ || payload_.size() > kPayloadBytes) flush();
    channel_ = channel;
    return payload_;
  }

 private:
  void flush() {
    if (payload_.empty()) return;
    const mlrun_frame frame = frame_of(MLRUN_FRAME_SUMS, channel_, seq_++);
    collect::append_frame(text_, 0, frame, payload_.data(), static_cast<uint32_t>(payload_.size()));
    payload_.clear();
  }

  std::string& text_;
  std::string payload_;
  uint64_t channel_ = 0, seq_ = kFirstSeq;
};

}  // namespace

void EventSums::write_state(std::string& text) const {
  const mlrun_frame_sums_state state{
      util::monotonic_ns(),      records_,          left_out_.late_marks,    left_out_.late_ns,
      left_out_.threads,         left_out_.reports, definitions_.left_out(), stretches_.left_out(),
      stretches_.bounds().size()};
  std::string payload;
  append_items(payload, &state, 1);
  append_items(payload, stretches_.bounds().data(), stretches_.bounds().size());
  append_items(payload, log_.writes().data(), log_.writes().size());
  collect::append_frame(text, 0, frame_of(MLRUN_FRAME_SUMS_STATE, 0, 0), payload.data(),
                        static_cast<uint32_t>(payload.size()));
  for (const mlrun_frame_anchor& anchor : clock_.anchors()) {
    collect::append_frame(text, 0, frame_of(MLRUN_FRAME_ANCHOR, 0, 0), &anchor, sizeof anchor);
  }
  for (const auto& [process, report] : io_) {
    collect::append_frame(text, 0, report.header, report.text.data(), static_cast<uint32_t>(report.text.size()));
  }
}

void EventSums::write_timeline(std::string& text) const {
  std::vector<mlrun_timeline_bin> bins;
  for (const summary::TimeBin& bin : timeline_.bins()) {
    bins.push_back(
        {static_cast<__u64>(bin.bytes_read), static_cast<__u64>(bin.bytes_written), static_cast<__u64>(bin.time_ns)});
  }
  const mlrun_frame_timeline body{static_cast<__u64>(timeline_.start_ns()), static_cast<__u64>(timeline_.bin_ns()),
                                  bins.size()};
  append_list(text, frame_of(MLRUN_FRAME_TIMELINE, 0, 0), body, bins);
}

void EventSums::write_same_files(std::string& text) const {
  const std::vector<mlrun_same_file> same = definitions_.files().same();
  constexpr size_t kMost = kPayloadBytes / sizeof(mlrun_same_file);
  for (size_t i = 0; i < same.size(); i += kMost) {
    const size_t count = std::min(kMost, same.size() - i);
    collect::append_frame(text, 0, frame_of(MLRUN_FRAME_SAME_FILE, 0, 0), &same[i],
                          static_cast<uint32_t>(count * sizeof same[i]));
  }
}

void EventSums::write_sums(std::string& text) const {
  SumFrames frames(text);
  for (const StretchSum& sum : stretches_.sums()) append_stretch(frames.payload_of(sum.channel), sum);
  std::vector<uint32_t> order(cells_.cells().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return cells_.cells()[a].channel < cells_.cells()[b].channel; });
  for (const uint32_t index : order) {
    const Cell& cell = cells_.cells()[index];
    append_cell(frames.payload_of(cell.channel), cell);
  }
}

std::string EventSums::text() {
  std::string text;
  write_state(text);
  write_timeline(text);
  write_same_files(text);
  threads_.write(text, util::monotonic_ns());
  heaps_.write(text);
  write_sums(text);
  return text;
}

Status EventSums::save() {
  poll_log();
  return util::write_atomically(options_.path, text(), kMode);
}

// Writes sums.bin when it is due. If the write fails, as on a full disk, the old file stays and the write is retried later.
void EventSums::end_pass(uint64_t now_ns, uint64_t clock) {
  heaps_.pass(clock);
  if (next_save_ns_ == 0) next_save_ns_ = now_ns + save_pause_ns_;
  if (now_ns < next_save_ns_) return;
  if (records_ != saved_records_ && save()) saved_records_ = records_;
  const uint64_t done_ns = util::monotonic_ns();
  save_pause_ns_ = std::min(2 * save_pause_ns_, kLongestPauseNs);
  next_save_ns_ = done_ns + std::max(save_pause_ns_, kPauseTimes * (done_ns - now_ns));
}

}  // namespace mlrun::sums
