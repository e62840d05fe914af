// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/merge/sums_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "runner/decode/call_fields.h"
#include "runner/summary/meters/timeline.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

namespace {

constexpr uint64_t kNearBoundNs = 500'000;  // half the least distance of two bounds, which are whole milliseconds
constexpr uint32_t kOwn = 1;                // bit of mlrun_sum.file_mode: an anonymous file (memfd, eventfd)
constexpr size_t kRowsOfSumsMax = size_t{1} << 20;
constexpr int64_t kMost = INT64_MAX / (int64_t{1} << 20);  // so that sums of sums cannot overflow

int64_t bounded(uint64_t number) { return static_cast<int64_t>(std::min<uint64_t>(number, kMost)); }

model::FileKind kind_of(uint32_t mode) {
  if (mode == 0) return model::FileKind::kUnknown;
  if ((mode & kOwn) != 0) return model::FileKind::kAnonymous;
  switch (mode & S_IFMT) {
    case S_IFREG: return model::FileKind::kRegular;
    case S_IFDIR: return model::FileKind::kDirectory;
    case S_IFCHR: return model::FileKind::kCharacter;
    case S_IFBLK: return model::FileKind::kBlock;
    case S_IFIFO: return model::FileKind::kPipe;
    case S_IFSOCK: return model::FileKind::kSocket;
    case S_IFLNK: return model::FileKind::kLink;
    default: return model::FileKind::kUnknown;
  }
}

model::SumBucket duration_bucket(const mlrun_sum_bucket& bucket) {
  const uint64_t index = std::min<uint64_t>(bucket.index, MLRUN_TIME_BUCKETS - 4);
  return {bounded(mlrun_time_bucket_low(index)), bounded(mlrun_time_bucket_low(index + 1)), bounded(bucket.calls), 0};
}

model::SumBucket size_bucket(const mlrun_sum_bucket& bucket) {
  model::SumBucket of_width = size_bucket_of_width(bucket.index);
  of_width.calls = bounded(bucket.calls);
  of_width.bytes = bounded(bucket.bytes);
  return of_width;
}

void sort_by_low(std::vector<model::SumBucket>& buckets) {
  std::sort(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
}

}  // namespace

model::SumBucket size_bucket_of_width(uint64_t width) {
  constexpr uint64_t kMost = 63;
  if (width == 0) return {0, 1, 0, 0};
  const uint64_t bits = std::min(width, kMost);
  return {int64_t{1} << (bits - 1), bits == kMost ? INT64_MAX : int64_t{1} << bits, 0, 0};
}

void StretchTimes::set(std::vector<mlrun_stretch> bounds) {
  bounds_ = std::move(bounds);
  std::sort(bounds_.begin(), bounds_.end(),
            [](const auto& a, const auto& b) { return a.first_monotonic_ns < b.first_monotonic_ns; });
  if (!bounds_.empty()) moments_[0] = bounded(bounds_.front().first_monotonic_ns) - int64_t{kNearBoundNs};
  for (size_t i = 0; i < bounds_.size(); ++i) {
    const int64_t begin = TraceClock::from_monotonic(bounds_[i].first_monotonic_ns);
    const bool is_last = i + 1 == bounds_.size();
    const int64_t end =
        is_last ? begin + 2 * int64_t{kNearBoundNs} : TraceClock::from_monotonic(bounds_[i + 1].first_monotonic_ns);
    moments_[bounds_[i].number] = begin + (end - begin) / 2;
  }
}

int64_t StretchTimes::moment_in(uint32_t stretch) const {
  const auto found = moments_.find(stretch);
  return found == moments_.end() ? 0 : found->second;
}

uint32_t StretchTimes::at(int64_t ts_ns) const {
  const auto behind = std::upper_bound(bounds_.begin(), bounds_.end(), static_cast<uint64_t>(ts_ns),
                                       [](uint64_t ns, const auto& bound) { return ns < bound.first_monotonic_ns; });
  return behind == bounds_.begin() ? 0 : static_cast<uint32_t>(std::prev(behind)->number);
}

Status SumsFile::read(const std::string& path) {
  const auto file = open_frame_file(path);
  if (!file) return tl::make_unexpected(file.error());
  SpoolCursor cursor(file->fd.get(), 0, file->bytes, file->bytes);
  SpoolFrame frame;
  for (;;) {
    const auto more = cursor.next(frame);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    take(frame);
  }
  return {};
}

void SumsFile::take(const SpoolFrame& frame) {
  switch (static_cast<mlrun_frame_type>(frame.header.type)) {
    case MLRUN_FRAME_SUMS_STATE: return take_state(frame);
    case MLRUN_FRAME_SUMS: return take_sums(frame);
    case MLRUN_FRAME_TIMELINE: return take_timeline(frame);
    case MLRUN_FRAME_HEAP: return take_heap(frame);
    case MLRUN_FRAME_COUNTERS: return take_counters(frame);
    case MLRUN_FRAME_INDEX:
    case MLRUN_FRAME_PAD:
    case MLRUN_FRAME_DATA:
    case MLRUN_FRAME_ANCHOR:
    case MLRUN_FRAME_CHANNEL:
    case MLRUN_FRAME_PROCESS:
    case MLRUN_FRAME_GAP:
    case MLRUN_FRAME_LEFT_OUT:
    case MLRUN_FRAME_DROPS:
    case MLRUN_FRAME_KEPT:
    case MLRUN_FRAME_GPU:
    case MLRUN_FRAME_SAMPLES:
    case MLRUN_FRAME_PYTHON:
    case MLRUN_FRAME_SAME_FILE: return;
  }
}

void SumsFile::take_state(const SpoolFrame& frame) {
  if (!frame.read(state_)) return;
  std::vector<mlrun_stretch> bounds;
  mlrun_stretch bound{};
  uint32_t at = sizeof state_;
  for (; bounds.size() < state_.stretches && frame.read(bound, at); at += sizeof bound) bounds.push_back(bound);
  mlrun_log_write write{};
  for (; frame.read(write, at); at += sizeof write) log_writes_.push_back(write);
  stretches_.set(std::move(bounds));
}

void SumsFile::take_sums(const SpoolFrame& frame) {
  static const Channel kNobody;
  const Channel* known = index_.channels().find(frame.header.channel);
  const Channel& channel = known ? *known : kNobody;
  SumCursor cursor(frame);
  while (cursor.next()) {
    const mlrun_sum& sum = cursor.sum();
    if ((sum.flags & MLRUN_SUM_OF_STRETCH) == 0) {
      add(cursor, channel);
      continue;
    }
    StretchTotals& of = totals_.emplace_back();
    of.proc_id = channel.origin.proc_id;
    of.stretch = sum.stretch;
    of.totals.calls = bounded(sum.calls);
    of.totals.bytes_read = bounded(sum.moved);
    of.totals.bytes_written = bounded(sum.written);
    of.totals.time_ns = channel.clock_kind == MLRUN_CLOCK_TSC ? index_.clock().length_ns(sum.time) : bounded(sum.time);
  }
}

namespace {

// Whether the call is on an open file that the spool does not describe.
bool lacks_file(const decode::RecordView& record, const model::CallRow& row) {
  decode::CallEvent call;
  return row.file_id == 0 && decode::decode(record, call) && call.open_file != 0;
}

}  // namespace

void SumsFile::add(const SumCursor& cursor, const Channel& channel) {
  const decode::RecordView* record = cursor.record();
  if (!record || rows_.size() >= kRowsOfSumsMax) return;
  model::SumRow row;
  row.call.origin = channel.origin;
  const decode::EventClass event_class = decode::class_of(record->kind);
  if (event_class == decode::EventClass::kCall && !fill_call(*record, channel, row)) return;
  if (event_class == decode::EventClass::kAlloc && !fill_alloc(*record, channel, row)) return;
  if (row.call.func == 0 && row.op == 0) return;
  fill_measures(cursor, channel, row);
  const uint16_t flags = cursor.sum().flags;
  row.of_several_sites = (flags & MLRUN_SUM_NO_DETAIL) != 0;
  row.of_several_files = row.op == 0 && ((flags & MLRUN_SUM_NO_FILE) != 0 || lacks_file(*record, row.call));
  if (row.of_several_files || row.of_several_sites) row.call.file_kind = kind_of(cursor.sum().file_mode);
  if ((flags & MLRUN_SUM_NO_STRETCH) == 0) row.stretch = static_cast<int32_t>(cursor.sum().stretch & INT32_MAX);
  rows_.push_back(std::move(row));
}

bool SumsFile::fill_call(const decode::RecordView& record, const Channel& channel, model::SumRow& row) {
  decode::CallEvent call;
  if (!decode::decode(record, call)) return false;
  decode::fill_fields(call, row.call);
  SliceReader::fill_files(index_.files(), call, row.call);
  row.call.stack_id = index_.stacks().find(channel.about.process, call.stack).stack_id;
  return true;
}

Site SumsFile::site_of(uint32_t process, uint64_t site, int32_t* stack_id) const {
  uint64_t address = site;
  if ((site & MLRUN_SITE_IS_STACK) != 0) {
    const KnownStack stack = index_.stacks().find(process, site & MLRUN_STACK_ID_MASK);
    if (stack_id) *stack_id = stack.stack_id;
    address = stack.site;
  }
  return index_.modules().find(process, address);
}

bool SumsFile::fill_alloc(const decode::RecordView& record, const Channel& channel, model::SumRow& row) {
  decode::AllocEvent alloc;
  if (!decode::decode(record, alloc)) return false;
  row.op = alloc.kind;
  const uint64_t site = alloc.stack != 0 ? MLRUN_SITE_IS_STACK | alloc.stack : alloc.site;
  const Site found = site_of(channel.about.process, site, &row.call.stack_id);
  row.site_library = found.library;
  row.site_offset = found.file_offset;
  return true;
}

void SumsFile::fill_measures(const SumCursor& cursor, const Channel& channel, model::SumRow& row) {
  const mlrun_sum& sum = cursor.sum();
  const bool ticks = channel.clock_kind == MLRUN_CLOCK_TSC;
  const auto length = [&](uint64_t time) {
    return ticks ? std::min(index_.clock().length_ns(time), kMost) : bounded(time);
  };
  const auto moment = [&](uint64_t clock) { return index_.clock().convert(clock, channel.clock_kind, hint_); };
  row.calls = bounded(sum.calls);
  row.served_calls = bounded(sum.served_calls);
  row.bytes = bounded(sum.moved);
  row.time_ns = length(sum.time);
  row.min_ns = length(sum.min_time);
  row.max_ns = std::max(row.min_ns, length(sum.max_time));
  row.first_ns = moment(sum.first);
  row.last_ns = std::max(row.first_ns, moment(sum.last));
  for (uint32_t i = 0; i < sum.time_buckets; ++i) row.times.push_back(duration_bucket(cursor.bucket(i)));
  for (uint32_t i = 0; i < sum.size_buckets; ++i) {
    row.sizes.push_back(size_bucket(cursor.bucket(sum.time_buckets + i)));
  }
  sort_by_low(row.times);
  sort_by_low(row.sizes);
}

void SumsFile::take_timeline(const SpoolFrame& frame) {
  mlrun_frame_timeline body{};
  if (!frame.read(body) || body.bin_ns == 0 || body.bins > summary::Timeline::kMaxBins) return;
  timeline_start_ns_ = TraceClock::from_monotonic(body.first_monotonic_ns);
  bin_ns_ = std::max<int64_t>(bounded(body.bin_ns), 1);
  mlrun_timeline_bin bin{};
  for (uint32_t at = sizeof body; bins_.size() < body.bins && frame.read(bin, at); at += sizeof bin) {
    bins_.push_back({bounded(bin.bytes_read), bounded(bin.bytes_written), bounded(bin.time_ns)});
  }
}

void SumsFile::take_heap(const SpoolFrame& frame) {
  mlrun_frame_heap body{};
  const Channel* channel = index_.channels().find(frame.header.channel);
  if (!channel || !frame.read(body)) return;
  Heap& heap = heaps_.emplace_back();
  heap.proc_id = channel->origin.proc_id;
  heap.sum.peak = {TraceClock::from_monotonic(body.peak_monotonic_ns), bounded(body.recorded_bytes),
                   bounded(body.counted_bytes)};
  heap.sum.recorded_allocations = bounded(body.recorded_allocations);
  heap.sum.counted_allocations = bounded(body.counted_allocations);
  heap.sum.blocks_left_out = bounded(body.blocks_left_out);
  heap.sum.bytes_left_out = bounded(body.bytes_left_out);
  std::unordered_map<int64_t, int64_t> by_library;
  mlrun_heap_site site{};
  uint64_t sites = 0;
  for (uint32_t at = sizeof body; sites < body.sites && frame.read(site, at); at += sizeof site, ++sites) {
    by_library[site_of(channel->about.process, site.site, nullptr).library] += bounded(site.live_bytes);
  }
  for (const auto& [library, bytes] : by_library) heap.sum.libraries.push_back({library, {}, bytes});
  std::sort(heap.sum.libraries.begin(), heap.sum.libraries.end(), [](const auto& a, const auto& b) {
    return std::pair(b.live_bytes, a.library) < std::pair(a.live_bytes, b.library);
  });
}

void SumsFile::take_counters(const SpoolFrame& frame) {
  mlrun_frame_counters counters{};
  if (!frame.read(counters)) return;
  mlrun_counter_entry entry{};
  uint32_t number = 0;
  for (uint32_t at = sizeof counters; number < counters.entries && frame.read(entry, at);
       at += sizeof entry, ++number) {
    counted_.push_back({frame.header.channel, entry});
  }
}

void SumsFile::feed(summary::Builder& builder, CounterTracker& counters, LogWrites& log_writes) const {
  for (const mlrun_log_write& write : log_writes_) {
    log_writes.add(write.log, TraceClock::from_monotonic(write.monotonic_ns), bounded(write.bytes));
  }
  if (bin_ns_ != 0) builder.set_timeline(timeline_start_ns_, bin_ns_, bins_);
  for (const model::SumRow& row : rows_) builder.add(row);
  for (const StretchTotals& of : totals_) builder.add_stretch(of.proc_id, stretches_.moment_in(of.stretch), of.totals);
  for (const Heap& heap : heaps_) builder.add_heap(heap.proc_id, heap.sum);
  for (const Counted& counted : counted_) {
    builder.add_counted(bounded(counted.entry.allocs), bounded(counted.entry.frees));
    counters.begin_at(counted.serial, counted.entry);
  }
}

}  // namespace mlrun::trace
