// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/slice_rows.h"

#include <algorithm>
#include <new>

#include "runner/decode/call_fields.h"
#include "runner/decode/limits.h"
#include "runner/summary/meters/sample_weight.h"
#include "runner/trace/rows/gpu_fields.h"
#include "runner/util/radix_sort.h"

namespace mlrun::trace {

namespace {

using decode::EventClass;
using decode::RecordView;

bool connects(uint16_t number) {
  return number == events::func::k_connect || number == events::func::k_accept || number == events::func::k_accept4;
}

bool lies_in(int64_t end_ns, const Slice& slice) { return end_ns >= slice.first_ns && end_ns < slice.end_ns; }

uint32_t entries_of(const SpoolFrame& frame, const mlrun_frame_counters& counters) {
  const size_t room = (frame.header.payload_bytes - sizeof counters) / sizeof(mlrun_counter_entry);
  return static_cast<uint32_t>(std::min<size_t>(counters.entries, room));
}

}  // namespace

void SliceRows::clear() {
  calls.clear();
  call_motion.clear();
  allocs.clear();
  counters.clear();
  order.clear();
  alloc_small.clear();
  mark_moments.clear();
  marks.clear();
  splits.clear();
  gpu.clear();
  gpu_callers.clear();
  gpu_hosts.clear();
  later_calls.clear();
  later_calls_left_out = 0;
  gpu_rows = {};
}

template <typename Visit>
Status SliceReader::for_each_frame(const Slice& slice, Visit visit) {
  SpoolFrame frame;
  for (const FrameRange& range : index_.frame_ranges().ranges_of(slice)) {
    SpoolCursor cursor(index_.fd(), range.begin, range.end, index_.bytes());
    for (;;) {
      const auto more = cursor.next(frame);
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      const bool wanted = frame.header.type == MLRUN_FRAME_DATA || frame.header.type == MLRUN_FRAME_COUNTERS;
      if (!wanted || frame.offset < slice.first_offset || frame.offset >= slice.end_offset) continue;
      const Channel* channel = index_.channels().find(frame.header.channel);
      if (channel && !index_.channels().is_dropped(frame.offset)) visit(frame, *channel);
    }
  }
  return {};
}

// Growing vectors to tens of mebibytes step by step would clear and copy twice the memory. Unused reserved memory is
// never touched.
void SliceReader::reserve(const Slice& slice, SliceRows& slice_rows) {
  if (!reserves_) return;
  constexpr uint64_t kRowsMax = 1'000'000;  // a larger slice, of rows with one time stamp, is rare
  const uint64_t rows = std::min(index_.frame_ranges().rows_at_most(slice), kRowsMax);
  // With slack for larger slices to come: memory freed on growth is not always reused.
  const auto make_room = [&](auto& vector) {
    if (vector.capacity() < rows) vector.reserve(rows + rows / 2);
  };
  try {
    make_room(slice_rows.calls);
    make_room(slice_rows.allocs);
    make_room(slice_rows.order);
    make_room(spare_);
  } catch (const std::bad_alloc&) {
    reserves_ = false;  // under an address space limit the vectors grow as needed
  }
}

Status SliceReader::read(const Slice& slice, SliceRows& slice_rows) {
  slice_rows.clear();
  free_times_.clear();
  reserve(slice, slice_rows);
  auto read = for_each_frame(slice, [&](const SpoolFrame& frame, const Channel& channel) {
    if (frame.header.type == MLRUN_FRAME_DATA) {
      add_data(frame, channel, slice, slice_rows);
    } else {
      add_counters(frame, static_cast<uint32_t>(&channel - index_.channels().all().data()), slice, slice_rows);
    }
  });
  if (!read) return read;
  free_times_.apply(slice_rows.allocs);
  util::sort_by_time(slice_rows.order, spare_);
  return look_beyond(slice, slice_rows);
}

Result<uint64_t> SliceReader::count(const Slice& slice) {
  uint64_t rows = 0;
  auto read = for_each_frame(slice, [&](const SpoolFrame& frame, const Channel& channel) {
    if (frame.header.type == MLRUN_FRAME_COUNTERS) {
      mlrun_frame_counters counters{};
      if (frame.read(counters) && lies_in(TraceClock::from_monotonic(counters.monotonic_ns), slice)) {
        rows += entries_of(frame, counters);
      }
      return;
    }
    decode::RecordReader reader(frame.payload, frame.header.payload_bytes, static_cast<uint8_t>(frame.header.lap));
    while (reader.next()) {
      const EventClass event_class = decode::class_of(reader.record().kind);
      uint64_t end = 0;
      if (event_class == EventClass::kGpuWork && decode::gpu_end_ns(reader.record(), end)) {
        rows += lies_in(TraceClock::from_monotonic(end), slice) ? 1 : 0;
        continue;
      }
      const bool is_row =
          event_class == EventClass::kCall || event_class == EventClass::kAlloc || event_class == EventClass::kMark;
      if (!is_row) continue;
      if (!decode::end_clock(reader.record(), end)) continue;
      rows += lies_in(index_.clock().convert(end, channel.clock_kind, hint_), slice) ? 1 : 0;
    }
  });
  if (!read) return tl::make_unexpected(read.error());
  return rows;
}

void SliceReader::add_data(const SpoolFrame& frame, const Channel& channel, const Slice& slice, SliceRows& slice_rows) {
  decode::RecordReader reader(frame.payload, frame.header.payload_bytes, static_cast<uint8_t>(frame.header.lap));
  while (reader.next()) {
    const EventClass event_class = decode::class_of(reader.record().kind);
    if (event_class == EventClass::kAlloc) add_alloc(reader.record(), channel, slice, slice_rows);
    if (event_class == EventClass::kFreeTime) add_free_time(reader.record(), channel, slice, slice_rows);
    if (event_class == EventClass::kCall) add_call(reader.record(), channel, slice, slice_rows);
    if (event_class == EventClass::kMark) add_mark(reader.record(), channel, slice, slice_rows);
    if (event_class == EventClass::kGpuWork) add_gpu_work(reader.record(), channel, slice, slice_rows);
  }
}

void SliceReader::add_call(const RecordView& record, const Channel& channel, const Slice& slice,
                           SliceRows& slice_rows) {
  uint64_t end = 0;
  decode::CallEvent call = blank_event_;
  if (!decode::end_clock(record, end) || !decode::decode(record, call)) return;
  const int64_t end_ns = index_.clock().convert(end, channel.clock_kind, hint_);
  if (!lies_in(end_ns, slice)) return;
  const bool announces = call.func == events::func::k_execve && call.result == 0;
  if (announces && index_.is_failed_exec(channel, call.start)) return;
  slice_rows.order.push_back({end_ns, static_cast<uint32_t>(slice_rows.calls.size()), RowKind::kCall});
  slice_rows.call_motion.push_back(decode::motion_of(call));
  model::CallRow& row = slice_rows.calls.emplace_back(blank_call_);
  row.origin = channel.origin;
  row.origin.ts_ns = index_.clock().convert(call.start, channel.clock_kind, hint_);
  row.dur_ns = end_ns - row.origin.ts_ns;
  decode::fill_fields(call, row);
  fill_files(index_.files(), call, row);
  row.stack_id = index_.stacks().find(channel.about.process, call.stack).stack_id;
  const uint32_t ender = decode::ender_of(call);
  if (ender != 0) row.poster_thread_id = index_.thread_numbers().find(row.origin.image_id, ender, end_ns);
  if (call.open_file != 0 && connects(call.func)) {
    row.file2_id = index_.files().open_file(index_.sockets().other_end(call.open_file)).file_id;
  }
}

void SliceReader::fill_files(FileIndex& files, const decode::CallEvent& call, model::CallRow& row) {
  uint32_t file_id = 0;
  if (call.open_file != 0) {
    row.ofd_id = call.open_file;
    file_id = files.open_file(call.open_file).file_id;
  } else if (call.on_path) {
    file_id = files.file_of(decode::first_path(call));
  }
  row.file_id = file_id;
  row.file_kind = files.kind(file_id);
  if (call.second_path != 0) row.file2_id = files.file_of(decode::second_path(call));
  if (call.second_open_file == 0) return;
  row.ofd2_id = call.second_open_file;
  row.file2_id = files.open_file(call.second_open_file).file_id;
  row.file2_kind = files.kind(static_cast<uint32_t>(row.file2_id));
}

void SliceReader::add_alloc(const RecordView& record, const Channel& channel, const Slice& slice,
                            SliceRows& slice_rows) {
  uint64_t end = 0;
  decode::AllocEvent alloc;
  if (!decode::end_clock(record, end) || !decode::decode(record, alloc)) return;
  const int64_t end_ns = index_.clock().convert(end, channel.clock_kind, hint_);
  if (!lies_in(end_ns, slice)) return;
  slice_rows.order.push_back({end_ns, static_cast<uint32_t>(slice_rows.allocs.size()), RowKind::kAlloc});
  model::AllocRow& row = slice_rows.allocs.emplace_back(model::AllocRow{});
  row.origin = channel.origin;
  row.origin.ts_ns = alloc.timed ? index_.clock().convert(alloc.start, channel.clock_kind, hint_) : end_ns;
  row.dur_ns = alloc.timed ? end_ns - row.origin.ts_ns : -1;
  row.op = alloc.kind;
  row.address = alloc.address;
  row.size = static_cast<int64_t>(alloc.size);
  row.usable = static_cast<int64_t>(alloc.usable);
  row.old_address = alloc.old_address;
  row.old_usable = static_cast<int64_t>(std::min<uint64_t>(alloc.old_usable, INT64_MAX));
  row.weight = summary::sample_weight(row.size, index_.alloc_sample_bytes());
  row.align = static_cast<int64_t>(std::min<uint64_t>(alloc.align, INT64_MAX));
  row.site = alloc.site;
  if (alloc.stack != 0) {
    const KnownStack stack = index_.stacks().find(channel.about.process, alloc.stack);
    row.stack_id = stack.stack_id;
    row.site = stack.site;
  }
  const Site& site = site_of(channel.about.process, row.site);
  row.site_library = site.library;
  row.site_offset = site.file_offset;
}

void SliceReader::add_free_time(const RecordView& record, const Channel& channel, const Slice& slice,
                                SliceRows& slice_rows) {
  decode::FreeTimeEvent time;
  if (!decode::decode(record, time)) return;
  const int64_t start_ns = index_.clock().convert(time.start, channel.clock_kind, hint_);
  if (!lies_in(start_ns, slice)) return;
  const uint64_t end = time.start > UINT64_MAX - time.duration ? UINT64_MAX : time.start + time.duration;
  const int64_t dur_ns = index_.clock().convert(end, channel.clock_kind, hint_) - start_ns;
  free_times_.add({channel.origin.thread_id, start_ns, dur_ns}, slice_rows.allocs);
}

void SliceReader::add_mark(const RecordView& record, const Channel& channel, const Slice& slice,
                           SliceRows& slice_rows) {
  decode::MarkEvent event;
  if (!decode::decode(record, event)) return;
  const int64_t ts_ns = index_.clock().convert(event.clock, channel.clock_kind, hint_);
  if (!lies_in(ts_ns, slice)) return;
  slice_rows.order.push_back({ts_ns, static_cast<uint32_t>(slice_rows.mark_moments.size()), RowKind::kMark});
  MarkMoment& moment = slice_rows.mark_moments.emplace_back();
  moment.origin = channel.origin;
  moment.origin.ts_ns = ts_ns;
  moment.event = event;
  decode::append_text(event, moment.text);
  decode::append_structure(event, moment.structure);
  moment.event.text_words = moment.event.structure_words = nullptr;
}

void SliceReader::add_gpu_work(const RecordView& record, const Channel& channel, const Slice& slice,
                               SliceRows& slice_rows) {
  decode::GpuWorkEvent work;
  uint64_t end = 0;
  if (!decode::gpu_end_ns(record, end)) return;
  const int64_t end_ns = TraceClock::from_monotonic(end);
  if (!lies_in(end_ns, slice)) return;
  if (record.kind == MLRUN_GPU_HOST) return add_host(record, channel, slice_rows);
  if (!decode::decode(record, work)) return;
  if (record.kind == MLRUN_GPU_CALLER) return add_caller(work, channel, slice_rows);
  const auto index = static_cast<uint32_t>(slice_rows.gpu.size());
  model::GpuWorkRow& row = slice_rows.gpu.emplace_back(gpu_row(work, channel, index_));
  slice_rows.order.push_back({end_ns, index, row_kind(row.kind)});
  ++slice_rows.gpu_rows[static_cast<size_t>(row.kind)];
  if (work.site == 0) return;
  const Site& site = site_of(channel.about.process, work.site);
  row.site = work.site;
  row.site_library = site.library;
  row.site_offset = site.file_offset;
}

void SliceReader::add_caller(const decode::GpuWorkEvent& work, const Channel& channel, SliceRows& slice_rows) {
  const KnownStack stack = index_.stacks().find(channel.about.process, work.stack);
  slice_rows.gpu_callers.push_back({channel.origin.proc_id, work.address, TraceClock::from_monotonic(work.start_ns),
                                    TraceClock::from_monotonic(work.end_ns), stack.stack_id, stack.site,
                                    site_of(channel.about.process, stack.site)});
}

void SliceReader::add_host(const RecordView& record, const Channel& channel, SliceRows& slice_rows) {
  decode::GpuHostEvent host;
  if (!decode::decode(record, host)) return;
  slice_rows.gpu_hosts.push_back({channel.origin.thread_id, TraceClock::from_monotonic(host.start_ns),
                                  TraceClock::from_monotonic(host.end_ns), host});
}

// GPU work may end in this slice while its call ends after it: a driver call inside a runtime call, a synchronous copy,
// an allocation. Reads the calls that end soon after the slice.
Status SliceReader::look_beyond(const Slice& slice, SliceRows& slice_rows) {
  if (!index_.has_gpu_work() || slice.end_ns > kLatestNs - decode::kCallsBeyondNs) return {};
  const Slice beyond{slice.end_ns, slice.end_ns + decode::kCallsBeyondNs};
  auto read = for_each_frame(beyond, [&](const SpoolFrame& frame, const Channel& channel) {
    if (frame.header.type != MLRUN_FRAME_DATA) return;
    decode::RecordReader reader(frame.payload, frame.header.payload_bytes, static_cast<uint8_t>(frame.header.lap));
    while (reader.next()) {
      const RecordView& record = reader.record();
      decode::GpuWorkEvent work;
      uint64_t end = 0;
      const bool is_host = record.kind == MLRUN_GPU_HOST;
      if (record.kind != MLRUN_GPU_API && record.kind != MLRUN_GPU_CALLER && !is_host) continue;
      if (!decode::gpu_end_ns(record, end) || !lies_in(TraceClock::from_monotonic(end), beyond)) continue;
      if (is_host) {
        add_host(record, channel, slice_rows);
        continue;
      }
      if (!decode::decode(record, work) || TraceClock::from_monotonic(work.start_ns) >= slice.end_ns) continue;
      if (record.kind == MLRUN_GPU_CALLER) {
        add_caller(work, channel, slice_rows);
      } else if (slice_rows.later_calls.size() < decode::kLaterCallsMax) {
        slice_rows.later_calls.push_back(gpu_row(work, channel, index_));
      } else {
        ++slice_rows.later_calls_left_out;
      }
    }
  });
  std::sort(slice_rows.later_calls.begin(), slice_rows.later_calls.end(),
            [](const auto& a, const auto& b) { return a.origin.ts_ns + a.dur_ns < b.origin.ts_ns + b.dur_ns; });
  return read;
}

const Site& SliceReader::site_of(uint32_t process, uint64_t address) {
  CachedSite& place = sites_[((address >> 1) ^ (address >> 13) ^ process * 61) % sites_.size()];
  if (place.address != address || place.process != process) {
    place = {address, process, index_.modules().find(process, address)};
  }
  return place.site;
}

void SliceReader::add_counters(const SpoolFrame& frame, uint32_t channel, const Slice& slice, SliceRows& slice_rows) {
  mlrun_frame_counters counters{};
  if (!frame.read(counters)) return;
  const int64_t ts_ns = TraceClock::from_monotonic(counters.monotonic_ns);
  if (!lies_in(ts_ns, slice)) return;
  const uint32_t entries = entries_of(frame, counters);
  for (uint32_t i = 0; i < entries; ++i) {
    ClassTotals totals{channel, ts_ns, {}, counters.final != 0 && i + 1 == entries};
    frame.read(totals.totals, static_cast<uint32_t>(sizeof counters + i * sizeof(mlrun_counter_entry)));
    slice_rows.order.push_back({ts_ns, static_cast<uint32_t>(slice_rows.counters.size()), RowKind::kCounters});
    slice_rows.counters.push_back(totals);
  }
}

}  // namespace mlrun::trace
