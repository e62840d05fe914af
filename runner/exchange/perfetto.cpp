// SPDX-License-Identifier: Apache-2.0
// One sequence of packets: first the state that all packets need, then tracks, texts and events as they come. Times are those of the
// trace (CLOCK_MONOTONIC). If the first is below 0, all are moved so that it is 0: the format has no time before 0. The viewer sorts
// packets by time and keeps the order of equal times, so the end of a slice comes before the begin of the next one.
//
// The nodes of a merged trace are in one file, distinguished by the names of their processes and groups, with pids of their own where two
// nodes have the same. An archive with a manifest, a file for each node, would add nothing, as all nodes are on one clock already;
// and viewers before version 58 take no notice of a manifest, and make one process of equal pids.
#include "runner/exchange/perfetto.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <protozero/pbf_writer.hpp>

#include <fmt/format.h>

#include "runner/exchange/output_parts.h"
#include "runner/exchange/perfetto_bytes.h"
#include "runner/exchange/perfetto_fields.h"
#include "runner/exchange/perfetto_names.h"
#include "runner/exchange/timeline.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

// The viewer is a web page with 2 GiB. Bytes that it needs for each item of a file, measured with its 32-bit trace processor.
constexpr uint64_t kMostViewerBytes = uint64_t{1536} << 20;
constexpr uint64_t kSliceBytes = 120, kArgumentBytes = 50, kFlowBytes = 60, kCounterBytes = 40;

class PerfettoSink : public TimelineSink {
 public:
  PerfettoSink(Export& job, const Stacks& stacks) : job_(&job), names_(stacks), parts_(job, ".pftrace", false) {}

  Status close();

  [[nodiscard]] Status start(int64_t first_ns) override;
  void track(const Track& track) override {
    tracks_.push_back(track);
    is_declared_.push_back(false);
  }
  void begin(const TimelineEvent& event) override { row(event, perfetto::kBegin); }
  void end(TrackId track, int64_t ts) override;
  void point(const TimelineEvent& event) override { row(event, perfetto::kPoint); }
  void counter(const TimelineEvent& event, CounterValue value) override;
  void stack(const TimelineEvent& event, const Track& thread, int64_t stack_id, int64_t weight,
             StackUnit unit) override;
  [[nodiscard]] bool is_full() const override {
    return viewer_bytes_ + names_.text_bytes() > kMostViewerBytes || parts_.is_full(UINT64_MAX);
  }
  void next_part() override {
    if (status_) status_ = open_part();
  }
  [[nodiscard]] Status status() const override {
    return file_->good() ? status_ : fail_errno("write " + job_->asked_output(), file_->error_number());
  }

 private:
  Status open_part();
  void write_state();
  void write_clocks();
  void declare(TrackId track);
  void row(const TimelineEvent& event, perfetto::EventType type);
  void annotate(const Argument& argument, const Values& values, int64_t row);
  void packet(std::string_view fields) {
    header_.clear();
    header_.message(1, fields.size());
    file_->write(header_.view());
    file_->write(fields);
  }
  // Writes the event in event_, after the texts and stacks that it refers to.
  void write_event(int64_t ts, uint32_t field = perfetto::kTrackEvent);
  // Writes a packet with the message `data` in `field`, and the fields that depend on the packets before it.
  void write_message(std::optional<int64_t> ts, uint32_t field, std::string_view data);

  Export* job_;
  PerfettoNames names_;
  std::vector<Track> tracks_;      // by id - 1
  std::vector<bool> is_declared_;  // in this file
  OutputParts parts_;
  OutputFile* file_ = nullptr;  // the current file of parts_
  PerfettoBytes header_, prefix_, event_, text_;
  uint64_t viewer_bytes_ = 0;
  int64_t later_ns_ = 0;  // how much later all times are than in the trace
  Status status_;
};

Status PerfettoSink::start(int64_t first_ns) {
  later_ns_ = std::max<int64_t>(-first_ns, 0);
  if (later_ns_ != 0)
    job_->account().note(fmt::format("all times are {} ns later: the format has no times before 0", later_ns_));
  return open_part();
}

Status PerfettoSink::open_part() {
  if (auto begun = parts_.begin(); !begun) return begun;
  file_ = &parts_.file();
  viewer_bytes_ = 0;
  names_.clear();
  is_declared_.assign(tracks_.size(), false);
  write_state();
  write_clocks();
  return {};
}

Status PerfettoSink::close() { return status_ ? parts_.close() : status_; }

void PerfettoSink::write_state() {
  std::string fields;
  protozero::pbf_writer packet_fields(fields);
  packet_fields.add_uint32(perfetto::kSequenceId, 1);
  packet_fields.add_uint32(perfetto::kSequenceFlags, perfetto::kStateCleared);
  packet_fields.add_bool(perfetto::kFirstPacketOnSequence, true);
  {
    protozero::pbf_writer defaults(packet_fields, perfetto::kDefaults);
    defaults.add_uint32(perfetto::kTimestampClock, perfetto::kMonotonic);
  }
  packet(fields);
}

// Pairs of the two clocks, wherever the wall clock was compared: it may be set during a run. An imported trace may have none.
void PerfettoSink::write_clocks() {
  const auto write = [&](int64_t moment_ns, int64_t offset_ns) {
    const int64_t at_ns = moment_ns + later_ns_;
    std::string fields;
    protozero::pbf_writer packet_fields(fields);
    packet_fields.add_uint32(perfetto::kSequenceId, 1);
    packet_fields.add_uint32(perfetto::kSequenceFlags, perfetto::kNeedsState);
    packet_fields.add_uint64(perfetto::kTimestamp, uint64_t(at_ns));
    {
      protozero::pbf_writer snapshot(packet_fields, perfetto::kClockSnapshot);
      for (const auto& [clock, time] :
           {std::pair(perfetto::kMonotonic, at_ns), {perfetto::kRealtime, moment_ns + offset_ns}}) {
        if (clock == perfetto::kRealtime && !job_->knows_utc()) continue;
        protozero::pbf_writer entry(snapshot, perfetto::kClocks);
        entry.add_uint32(perfetto::kClockId, clock);
        entry.add_uint64(perfetto::kClockTime, uint64_t(time));
      }
      snapshot.add_enum(perfetto::kPrimaryClock, perfetto::kMonotonic);
    }
    packet(fields);
  };
  const auto& offsets = job_->run().clock.realtime_offset_by_time;
  for (const auto& [at_ns, offset_ns] : offsets) write(at_ns, offset_ns);
  if (offsets.empty()) write(job_->start_ns(), job_->realtime_offset_ns());
}

perfetto::Unit unit_of(const std::string& counter) {
  if (counter.ends_with("_ns")) return perfetto::kNanoseconds;
  return counter.ends_with("bytes") ? perfetto::kBytes : perfetto::kCount;
}

void PerfettoSink::declare(TrackId id) {
  if (is_declared_[id - 1]) return;
  is_declared_[id - 1] = true;
  const Track& track = tracks_[id - 1];
  if (track.parent != 0) declare(track.parent);
  std::string fields;
  protozero::pbf_writer descriptor(fields);
  descriptor.add_uint64(perfetto::kUuid, id);
  if (track.parent != 0) descriptor.add_uint64(perfetto::kParent, track.parent);
  switch (track.kind) {
    case TrackKind::kProcess: {  // pids fit 32 bits, also those that are made up
      protozero::pbf_writer process(descriptor, perfetto::kProcess);
      process.add_int32(perfetto::kPidOfProcess, int32_t(track.pid));
      process.add_string(perfetto::kProcessName, track.name);
      break;
    }
    case TrackKind::kThread: {
      protozero::pbf_writer thread(descriptor, perfetto::kThread);
      thread.add_int32(perfetto::kPidOfThread, int32_t(track.pid));
      thread.add_int64(perfetto::kTid, track.tid);
      thread.add_string(perfetto::kThreadName, track.name);
      break;
    }
    case TrackKind::kCounter: {
      descriptor.add_string(perfetto::kTrackName, track.name);
      protozero::pbf_writer counter(descriptor, perfetto::kCounterOfTrack);
      counter.add_enum(perfetto::kUnit, unit_of(track.name));
      break;
    }
    case TrackKind::kGroup:
    case TrackKind::kRows:
    case TrackKind::kLane: descriptor.add_string(perfetto::kTrackName, track.name); break;
  }
  std::string whole;
  protozero::pbf_writer packet_fields(whole);
  packet_fields.add_uint32(perfetto::kSequenceId, 1);
  packet_fields.add_uint32(perfetto::kSequenceFlags, perfetto::kNeedsState);
  packet_fields.add_message(perfetto::kTrackDescriptor, fields);
  packet(whole);
}

void PerfettoSink::write_message(std::optional<int64_t> ts, uint32_t field, std::string_view data) {
  prefix_.clear();
  if (ts) prefix_.number(perfetto::kTimestamp, uint64_t(*ts + later_ns_));
  prefix_.number(perfetto::kSequenceId, 1);
  prefix_.number(perfetto::kSequenceFlags, perfetto::kNeedsState);
  prefix_.message(field, data.size());
  header_.clear();
  header_.message(1, prefix_.view().size() + data.size());
  file_->write(header_.view());
  file_->write(prefix_.view());
  file_->write(data);
}

void PerfettoSink::write_event(int64_t ts, uint32_t field) {
  if (!names_.pending().empty()) {
    write_message(std::nullopt, perfetto::kInternedData, names_.pending());
    names_.pending().clear();
  }
  write_message(ts, field, event_.view());
}

void PerfettoSink::annotate(const Argument& argument, const Values& values, int64_t row) {
  viewer_bytes_ += kArgumentBytes;
  const uint64_t name = names_.annotation_name(argument);
  const bool is_text = values.kind() == Values::Kind::kText || argument.names != nullptr;
  if (is_text) {
    const std::string_view text = argument.names ? argument.names->name(values.number(row)) : values.text(row);
    const uint64_t iid =
        argument.names ? names_.value_of_id(argument, values.number(row), text) : names_.value(argument, text);
    if (iid != 0) {
      event_.small_message(perfetto::kAnnotation, [&] {
        event_.number(perfetto::kNameId, name);
        event_.number(perfetto::kStringId, iid);
      });
      return;
    }
    text_.clear();
    text_.number(perfetto::kNameId, name);
    text_.text(perfetto::kString, text);
    event_.text(perfetto::kAnnotation, text_.view());
    return;
  }
  event_.small_message(perfetto::kAnnotation, [&] {
    event_.number(perfetto::kNameId, name);
    switch (values.kind()) {
      case Values::Kind::kNumber:
        event_.number(argument.is_address ? perfetto::kPointer : perfetto::kInteger, uint64_t(values.number(row)));
        break;
      case Values::Kind::kReal: event_.fixed64(perfetto::kReal, std::bit_cast<uint64_t>(values.real(row))); break;
      case Values::Kind::kBoolean: event_.number(perfetto::kBoolean, values.boolean(row) ? 1 : 0); break;
      case Values::Kind::kText:
      case Values::Kind::kNone: break;
    }
  });
}

void PerfettoSink::row(const TimelineEvent& event, perfetto::EventType type) {
  declare(event.track);
  event_.clear();
  event_.number(perfetto::kType, type);
  event_.number(perfetto::kTrack, event.track);
  event_.number(perfetto::kName, names_.event_name(event.name, event.name_text));
  event_.number(perfetto::kCategory, names_.category(*event.table));
  for (const uint64_t flow : event.flows_out) event_.fixed64(perfetto::kFlow, flow);
  for (const uint64_t flow : event.flows_in) event_.fixed64(perfetto::kLastFlow, flow);
  for_each_argument(*event.table, *event.row, [&](const Argument& argument, const Values& values) {
    annotate(argument, values, event.row->row());
  });
  viewer_bytes_ += kSliceBytes + kFlowBytes * event.flows_in.size();
  write_event(event.ts);
}

void PerfettoSink::end(TrackId track, int64_t ts) {
  event_.clear();
  event_.number(perfetto::kType, perfetto::kEnd);
  event_.number(perfetto::kTrack, track);
  write_event(ts);
}

void PerfettoSink::counter(const TimelineEvent& event, CounterValue value) {
  declare(event.track);
  event_.clear();
  event_.number(perfetto::kType, perfetto::kCounter);
  event_.number(perfetto::kTrack, event.track);
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    event_.number(perfetto::kCounterValue, uint64_t(*whole));
  } else {
    event_.fixed64(perfetto::kRealCounterValue, std::bit_cast<uint64_t>(std::get<double>(value)));
  }
  viewer_bytes_ += kCounterBytes;
  write_event(event.ts);
}

void PerfettoSink::stack(const TimelineEvent& event, const Track& thread, int64_t stack_id, int64_t weight,
                         StackUnit unit) {
  const uint64_t callstack = names_.callstack(stack_id);
  if (callstack == 0 && event.table->form->shape != Shape::kStack) return;  // the row itself is written anyway
  declare(thread.id);
  event_.clear();
  event_.small_message(perfetto::kTask, [&] {
    event_.number(perfetto::kPidOfTask, uint64_t(thread.pid));
    event_.number(perfetto::kTidOfTask, uint64_t(thread.tid));
  });
  if (callstack != 0) event_.number(perfetto::kSampleCallstack, callstack);
  event_.number(perfetto::kDescriptorId, names_.sample_descriptor(*event.table, unit));
  event_.number(perfetto::kWeight, uint64_t(weight));
  write_event(event.ts, perfetto::kStackSample);
  viewer_bytes_ += kSliceBytes;
}

}  // namespace

Status write_perfetto(Export& job) {
  auto stacks = Stacks::load(job);
  if (!stacks) return tl::make_unexpected(stacks.error());
  PerfettoSink sink(job, *stacks);
  if (auto written = write_timeline(job, sink); !written) return written;
  return sink.close();
}

}  // namespace mlrun::exchange
