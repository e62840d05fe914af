// SPDX-License-Identifier: Apache-2.0
// An event a line, in the order of times. Times count from a whole second of UTC, which is baseTimeNanoseconds: a double holds
// both exactly. If UTC is unknown, they are those of the trace as far as a double holds them. Rows of a thread that overlap without
// nesting, and rows at the same time on a stream or device, are async events, to which the format can bind no arrow.
//
// Rows that were imported from this format are written as the events that they were: slices, counters and ends of arrows with their own
// categories and arguments (imported_events.h).
#include "runner/exchange/chrome/chrome.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/chrome/imported_events.h"
#include "runner/exchange/json_text.h"
#include "runner/exchange/output_parts.h"
#include "runner/exchange/stacks.h"
#include "runner/exchange/timeline.h"
#include "runner/exchange/timeline_tables.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kMostExact = int64_t{1} << 53;  // up to here a double holds every integer
// For a file of this size a viewer needs as much memory as a web page may have.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

// Where the viewer shows the events of a track.
struct ChromePlace {
  int64_t pid = 0, tid = 0;
  bool is_async = false;
  bool is_named = false;
  std::string counter = {};  // name of the counter
};

// Frames of stacks as a tree: the format has each frame once, with the number of the frame that called it.
class FrameTree {
 public:
  explicit FrameTree(const Stacks& stacks) : stacks_(&stacks) {}
  // Number of the innermost frame, from 1; 0: the stack is unknown.
  int64_t node_of(int64_t stack_id) {
    int64_t node = 0;
    const auto frames = stacks_->frames_of(stack_id);
    for (size_t i = frames.size(); i-- > 0;) {
      int64_t& next = children_[{node, frames[i]}];
      if (next == 0) {
        nodes_.emplace_back(node, frames[i]);
        next = int64_t(nodes_.size());
      }
      node = next;
    }
    return node;
  }
  // Forgets all frames: a new file begins.
  void clear() {
    children_.clear();
    nodes_.clear();
  }
  void write(OutputFile& file) const {
    std::string line;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto& [parent, frame_id] = nodes_[i];
      line = fmt::format("{}\n\"{}\":{{\"name\":", i == 0 ? "" : ",", i + 1);
      append_json(line, stacks_->frame(frame_id).label);
      line += ",\"category\":";
      append_json(line, stacks_->frame(frame_id).library);
      if (parent != 0) line += fmt::format(",\"parent\":\"{}\"", parent);
      line += '}';
      file.write(line);
    }
  }

 private:
  const Stacks* stacks_;
  std::map<std::pair<int64_t, int32_t>, int64_t> children_;  // by caller and frame
  std::vector<std::pair<int64_t, int32_t>> nodes_;           // caller and frame
};

class ChromeSink : public TimelineSink {
 public:
  ChromeSink(Export& job, const Stacks& stacks, bool compresses)
      : job_(&job), frames_(stacks), parts_(job, compresses ? ".json.gz" : ".json", compresses) {}

  Status close();

  [[nodiscard]] Status start(int64_t first_ns) override;
  [[nodiscard]] bool takes_flow_rows() const override { return true; }
  void track(const Track& track) override;
  void begin(const TimelineEvent& event) override;
  void end(TrackId, int64_t) override {}  // begin() has written it whole
  void point(const TimelineEvent& event) override;
  void counter(const TimelineEvent& event, CounterValue value) override;
  void stack(const TimelineEvent& event, const Track& thread, int64_t stack_id, int64_t weight,
             StackUnit unit) override;
  [[nodiscard]] bool is_full() const override { return parts_.is_full(kMostBytes); }
  void next_part() override;
  [[nodiscard]] Status status() const override {
    return file_->good() ? status_ : fail_errno("write " + job_->asked_output(), file_->error_number());
  }

 private:
  Status open_part();
  void end_part();
  void name(TrackId track);
  // Begins line_ with the members that every event has.
  void open(std::string_view phase, const ChromePlace& place, int64_t ts) { open(phase, place, place.tid, ts); }
  // The same, without the member `tid` if it is 0, and without `ts` if there is no time.
  void open(std::string_view phase, const ChromePlace& place, int64_t tid, std::optional<int64_t> ts);
  // The tid of an imported event's thread; 0: it has none.
  [[nodiscard]] int64_t tid_of(const TimelineEvent& event) const {
    return event.thread == 0 ? 0 : places_[event.thread - 1].tid;
  }
  void put_text(const char* key, std::string_view text);
  void put_names(const TimelineEvent& event);
  void put_arguments(const TimelineEvent& event);
  void put_stack(const TimelineEvent& event);
  // Names and arguments; closes the line.
  void put_rest(const TimelineEvent& event);
  const ImportedColumns* imported(const TimelineEvent& event);
  void put_flows(const TimelineEvent& event, const ChromePlace& place);
  void close_line();

  Export* job_;
  FrameTree frames_;
  OutputParts parts_;
  OutputFile* file_ = nullptr;  // the current file of parts_
  Status status_;
  int64_t origin_ns_ = 0;  // time 0 of the file
  std::vector<Track> tracks_;
  std::vector<ChromePlace> places_;                       // by id - 1
  std::vector<std::optional<ImportedColumns>> imported_;  // by number of the table
  std::string line_;
  int64_t next_async_ = 1, unbound_count_ = 0;
  std::unordered_set<uint64_t> unbound_;  // arrows that an async event began
};

Status ChromeSink::start(int64_t first_ns) {
  const int64_t utc = first_ns + job_->realtime_offset_ns();
  const bool is_exact = first_ns > -kMostExact && job_->run().end_ns.value_or(0) < kMostExact;
  if (job_->knows_utc() || !is_exact)
    origin_ns_ = utc - (utc % util::kNsPerS + util::kNsPerS) % util::kNsPerS - job_->realtime_offset_ns();
  return open_part();
}

Status ChromeSink::open_part() {
  if (auto begun = parts_.begin(); !begun) return begun;
  file_ = &parts_.file();
  frames_.clear();
  for (ChromePlace& place : places_) place.is_named = false;
  file_->write("{\"displayTimeUnit\":\"ns\",");
  if (job_->knows_utc() || origin_ns_ != 0)
    file_->write(fmt::format("\"baseTimeNanoseconds\":{},", origin_ns_ + job_->realtime_offset_ns()));
  line_ = "\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"mlrun\",\"pid\":0,\"args\":{\"trace\":";
  append_json(line_, job_->trace_folder());
  line_ += "}}";
  file_->write(line_);
  return {};
}

void ChromeSink::end_part() {
  file_->write("\n],\"stackFrames\":{");
  frames_.write(*file_);
  file_->write("}}\n");
}

void ChromeSink::next_part() {
  if (!status_) return;
  end_part();
  unbound_.clear();
  status_ = open_part();
}

Status ChromeSink::close() {
  if (!status_) return status_;
  end_part();
  if (unbound_count_ != 0) {
    job_->account().note(fmt::format("arrows not written: {} that begin or end at async events", unbound_count_));
  }
  return parts_.close();
}

void ChromeSink::track(const Track& track) {
  tracks_.push_back(track);
  const int64_t own = kFirstMadeUpId + track.id;
  ChromePlace place{.pid = own, .tid = own};
  if (track.parent != 0) place = {.pid = places_[track.parent - 1].pid, .tid = own};
  switch (track.kind) {
    case TrackKind::kProcess: place = {.pid = track.pid, .tid = own}; break;
    case TrackKind::kThread: place.tid = track.tid; break;
    case TrackKind::kLane:
      place = places_[track.parent - 1];
      place.is_async = true;
      break;
    case TrackKind::kCounter: {
      place.counter = track.name;
      for (TrackId up = track.parent; up != 0 && tracks_[up - 1].parent != 0; up = tracks_[up - 1].parent) {
        const Track& of = tracks_[up - 1];
        const std::string number = of.kind == TrackKind::kThread ? fmt::format(" {}", of.tid) : "";
        place.counter = fmt::format("{}{} {}", of.name, number, place.counter);
      }
      break;
    }
    case TrackKind::kGroup:
    case TrackKind::kRows: break;
  }
  places_.push_back(std::move(place));
}

// Names of the process and of the thread that the viewer shows for the track, before its first event.
void ChromeSink::name(TrackId id) {
  ChromePlace& place = places_[id - 1];
  if (place.is_named) return;
  place.is_named = true;
  const Track& track = tracks_[id - 1];
  if (track.parent != 0) name(track.parent);
  const bool has_place = track.kind != TrackKind::kLane && track.kind != TrackKind::kCounter;
  if (!has_place || track.name.empty()) return;  // Perfetto's importer counts an empty name as a failure
  const bool is_process = track.parent == 0;
  open("M", place, place.tid, std::nullopt);
  put_text("name", is_process ? "process_name" : "thread_name");
  line_ += ",\"args\":{\"name\":";
  append_json(line_, track.name);
  line_ += '}';
  close_line();
}

void ChromeSink::open(std::string_view phase, const ChromePlace& place, int64_t tid, std::optional<int64_t> ts) {
  line_ = ",\n{\"ph\":\"";
  line_ += phase;
  line_ += "\",\"pid\":";
  append_json(line_, place.pid);
  if (tid != 0) {
    line_ += ",\"tid\":";
    append_json(line_, tid);
  }
  if (!ts) return;
  line_ += ",\"ts\":";
  append_microseconds(line_, *ts - origin_ns_);
}

void ChromeSink::put_text(const char* key, std::string_view text) {
  line_ += ",\"";
  line_ += key;
  line_ += "\":";
  append_json(line_, text);
}

void ChromeSink::put_names(const TimelineEvent& event) {
  put_text("name", event.name_text);
  put_text("cat", event.table->form->table);
}

void ChromeSink::put_stack(const TimelineEvent& event) {
  const int64_t stack_id = event.row->number(event.table->at.stack_id);
  const int64_t node = stack_id == 0 ? 0 : frames_.node_of(stack_id);
  if (node != 0) line_ += fmt::format(",\"sf\":\"{}\"", node);
}

void ChromeSink::put_arguments(const TimelineEvent& event) {
  put_stack(event);
  line_ += ",\"args\":{";
  const size_t empty = line_.size();
  for_each_argument(*event.table, *event.row, [&](const Argument& argument, const Values& values) {
    if (line_.size() != empty) line_ += ',';
    append_json(line_, argument.shown);
    line_ += ':';
    const int64_t row = event.row->row();
    switch (values.kind()) {
      case Values::Kind::kNumber:
        if (argument.names) {
          append_json(line_, argument.names->name(values.number(row)));
        } else {
          append_json(line_, values.number(row));
        }
        break;
      case Values::Kind::kReal: append_json(line_, values.real(row)); break;
      case Values::Kind::kBoolean: line_ += values.boolean(row) ? "true" : "false"; break;
      case Values::Kind::kText:
      case Values::Kind::kNone: append_json(line_, values.text(row)); break;
    }
  });
  line_ += '}';
}

// The begin of an arrow is bound to the slice around it by itself, the end only with "bp":"e".
void ChromeSink::put_flows(const TimelineEvent& event, const ChromePlace& place) {
  for (const uint64_t flow : event.flows_out) {
    if (place.is_async) {
      unbound_.insert(flow);
      continue;
    }
    open("s", place, event.ts);
    line_ += fmt::format(",\"name\":\"causes\",\"cat\":\"arrow\",\"id\":{}", flow);
    close_line();
  }
  for (const uint64_t flow : event.flows_in) {
    if (unbound_.erase(flow) != 0 || place.is_async) {
      ++unbound_count_;
      continue;
    }
    open("f", place, event.ts);
    line_ += fmt::format(",\"bp\":\"e\",\"name\":\"causes\",\"cat\":\"arrow\",\"id\":{}", flow);
    close_line();
  }
}

void ChromeSink::close_line() {
  line_ += '}';
  file_->write(line_);
}

// The columns of a table of imported events; nullptr: it is another table.
const ImportedColumns* ChromeSink::imported(const TimelineEvent& event) {
  if (!is_imported_table(event.table->form->table)) return nullptr;
  if (event.table->number >= imported_.size()) imported_.resize(event.table->number + 1);
  std::optional<ImportedColumns>& columns = imported_[event.table->number];
  if (!columns) columns.emplace(*event.table);
  return &*columns;
}

void ChromeSink::put_rest(const TimelineEvent& event) {
  if (const ImportedColumns* columns = imported(event)) {
    if (!columns->has_frame(*event.row)) put_stack(event);
    columns->append_slice(line_, *event.row);
  } else {
    put_names(event);
    put_arguments(event);
  }
  close_line();
}

void ChromeSink::begin(const TimelineEvent& event) {
  name(event.track);
  if (event.thread != 0) name(event.thread);
  const ChromePlace& place = places_[event.track - 1];
  const ImportedColumns* columns = imported(event);
  const bool has_track = columns != nullptr && columns->has_track(*event.row);
  if (!place.is_async && !has_track) {
    open("X", place, event.ts);
    line_ += ",\"dur\":";
    append_microseconds(line_, event.end - event.ts);
    put_rest(event);
    return put_flows(event, place);
  }
  std::string id;
  if (has_track) {
    columns->append_track(id, *event.row);
  } else {
    id = fmt::format(",\"id2\":{{\"local\":\"0x{:x}\"}}", next_async_++);
  }
  const int64_t tid = has_track ? tid_of(event) : place.tid;
  open("b", place, tid, event.ts);
  line_ += id;
  put_rest(event);
  open("e", place, tid, event.end);
  line_ += id;
  if (columns != nullptr) {
    columns->append_names(line_, *event.row);
  } else {
    put_names(event);
  }
  close_line();
  put_flows(event, place);
}

void ChromeSink::point(const TimelineEvent& event) {
  name(event.track);
  const ChromePlace& place = places_[event.track - 1];
  if (const ImportedColumns* columns = imported(event)) {
    const bool is_flow = std::string_view(event.table->form->table) == "flow";
    open(is_flow ? columns->phase_of_flow(*event.row) : "X", place, event.ts);  // a slice without a duration
    if (!is_flow) return put_rest(event);
    columns->append_flow(line_, *event.row);
    return close_line();
  }
  open("i", place, event.ts);
  line_ += ",\"s\":\"t\"";
  put_rest(event);
}

void ChromeSink::counter(const TimelineEvent& event, CounterValue value) {
  name(event.track);
  if (event.thread != 0) name(event.thread);
  const ChromePlace& place = places_[event.track - 1];
  if (const ImportedColumns* columns = imported(event)) {
    open("C", place, tid_of(event), event.ts);
    columns->append_counter(line_, *event.row);
    return close_line();
  }
  open("C", place, event.ts);
  put_text("name", place.counter);
  line_ += ",\"args\":{\"value\":";
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    append_json(line_, *whole);
  } else {
    append_json(line_, std::get<double>(value));
  }
  line_ += '}';
  close_line();
}

void ChromeSink::stack(const TimelineEvent& event, const Track&, int64_t, int64_t, StackUnit) {
  if (event.table->form->shape == Shape::kStack) point(event);  // begin() and point() write the stacks of other rows
}

}  // namespace

Status write_chrome(Export& job) {
  auto stacks = Stacks::load(job);
  if (!stacks) return tl::make_unexpected(stacks.error());
  ChromeSink sink(job, *stacks, job.asked_output().ends_with(".gz"));
  if (auto written = write_timeline(job, sink); !written) return written;
  return sink.close();
}

}  // namespace mlrun::exchange
