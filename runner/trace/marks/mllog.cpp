// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/mllog.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "runner/decode/limits.h"
#include "runner/events/mllog_stamp.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr std::string_view kMarker = ":::MLLOG";
constexpr int64_t kMillisecondNs = events::kMllogStampNs;
constexpr double kLatestMs = 9.0e12;      // year 2255
constexpr int64_t kHeldUpNs = 2'000'000;  // maximum delay from the stamp's millisecond to the write

std::string without_suffix(std::string key, std::initializer_list<std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes) {
    if (key.size() > suffix.size() && key.ends_with(suffix)) return key.substr(0, key.size() - suffix.size());
  }
  return key;
}

// The number that distinguishes intervals of one key.
std::string epoch_of(const json& event) {
  const auto metadata = event.find("metadata");
  if (metadata == event.end() || !metadata->is_object()) return {};
  for (const char* name : {"epoch_num", "first_epoch_num", "step_num"}) {
    const auto found = metadata->find(name);
    if (found != metadata->end() && (found->is_number() || found->is_string())) {
      return found->is_string() ? found->get<std::string>() : found->dump();
    }
  }
  return {};
}

std::string text_in(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> milliseconds_of(const json& event) {
  const auto found = event.find("time_ms");
  if (found == event.end() || !found->is_number()) return std::nullopt;
  const auto ms = found->get<double>();
  return std::isfinite(ms) && ms >= 0 && ms < kLatestMs ? std::optional(ms) : std::nullopt;
}

}  // namespace

void MllogReader::read(std::istream& lines) {
  std::string line;
  int64_t place = 0, bytes = 0;
  const size_t first = events_.size();
  for (char byte = 0; lines.get(byte);) {
    ++bytes;
    if (byte != '\n') {
      if (line.size() <= decode::kMarkLineMax) line += byte;
      continue;
    }
    read_line(line, place);
    line.clear();
    place = bytes;
  }
  read_line(line, place);
  for (size_t i = first; i < events_.size(); ++i) events_[i].line.place = bytes - events_[i].line.place;
  ++logs_;
}

void MllogReader::read_file(const std::string& path) {
  std::ifstream lines(path);
  if (lines) {
    read(lines);
  } else {
    ++log_.unreadable_files;
    ++logs_;
  }
}

void MllogReader::read_line(const std::string& line, int64_t place) {
  const size_t at = line.find(kMarker);
  if (at == std::string::npos) return;
  const json event = util::parse_json(std::string_view(line).substr(at + kMarker.size()));
  const auto ms = event.is_object() ? milliseconds_of(event) : std::nullopt;
  const std::string key = event.is_object() ? text_in(event, "key") : std::string();
  if (!ms || key.empty() || events_.size() >= decode::kMarksMax) {
    ++log_.unreadable_lines;
    return;
  }
  const double whole_ms = std::floor(*ms);  // converts the parts separately: a double cannot hold the sum in ns
  const WallTime time = clock_.from_realtime(static_cast<int64_t>(whole_ms) * kMillisecondNs +
                                             static_cast<int64_t>((*ms - whole_ms) * kMillisecondNs));
  const std::string type = text_in(event, "event_type");
  MllogEvent& read = events_.emplace_back();
  read.line = {logs_, place, time.ts_ns, time.error_ns};
  read.epoch = epoch_of(event);
  if (type == "INTERVAL_END") {
    read.type = MllogEvent::Type::kEnd;
    read.key = without_suffix(key, {"_stop", "_end"});
    return;
  }
  if (type == "INTERVAL_START") read.type = MllogEvent::Type::kStart;
  read.key = without_suffix(key, {"_start", "_begin"});
  read.mark.origin.ts_ns = time.ts_ns;
  read.mark.error_ns = time.error_ns + kMillisecondNs;
  read.mark.domain = "mllog";
  read.mark.name = util::escaped_utf8(key);
  read.mark.scope = "run";
  const auto value = event.find("value");
  read.mark.value = value == event.end() ? "null" : util::json_text(*value);
}

bool MllogReader::is_ambiguous() const {
  std::map<std::tuple<size_t, std::string, std::string>, int64_t> open;
  for (const MllogEvent& event : events_) {
    if (event.type == MllogEvent::Type::kPoint) continue;
    int64_t& count = open[{event.line.log, event.key, event.epoch}];
    if (event.type == MllogEvent::Type::kEnd) {
      count = std::max<int64_t>(0, count - 1);
    } else if (++count > 1) {
      return true;
    }
  }
  return false;
}

void MllogReader::match(MllogEvent& event) {
  switch (event.type) {
    case MllogEvent::Type::kPoint: log_.marks.push_back(std::move(event.mark)); return;
    case MllogEvent::Type::kStart: return begin_interval(event);
    case MllogEvent::Type::kEnd: return end_interval(event);
  }
}

void MllogReader::begin_interval(MllogEvent& event) {
  Interval& interval = intervals_.emplace_back();
  interval.key = std::move(event.key);
  interval.epoch = std::move(event.epoch);
  interval.mark = std::move(event.mark);
  interval.proc_id = event.proc_id;
  interval.lines.start = event.line;
  const MllogLine& last_end = last_ends_[{event.line.log, event.proc_id}];
  const bool behind_an_end = last_end.known() && last_end.ts_ns == event.line.ts_ns;
  interval.from_ns = behind_an_end ? last_end.window().end_ns : event.line.ts_ns;
}

// Ends the latest open interval with the event's key. Process and epoch number must be the same if both have one.
void MllogReader::end_interval(const MllogEvent& event) {
  last_ends_[{event.line.log, event.proc_id}] = event.line;
  const auto fits = [&](const Interval& interval) {
    const bool of_epoch = interval.epoch == event.epoch || interval.epoch.empty() || event.epoch.empty();
    const bool of_process = interval.proc_id == event.proc_id || interval.proc_id == 0 || event.proc_id == 0;
    return interval.open && interval.key == event.key && of_epoch && of_process;
  };
  const auto found = std::find_if(intervals_.rbegin(), intervals_.rend(), fits);
  if (found == intervals_.rend()) {
    ++log_.unmatched_ends;
    return;
  }
  const MllogLine& line = event.line;
  found->open = false;
  if (found->epoch.empty()) found->epoch = event.epoch;
  found->mark.dur_ns = std::max<int64_t>(0, line.ts_ns - found->mark.origin.ts_ns);
  found->mark.error_ns = std::max(found->mark.error_ns, line.error_ns + kMillisecondNs);
  found->lines.end = line;
  found->to_ns = std::max(found->from_ns, line.window().end_ns);
}

// An open interval from before the run, whose key began again since, is a leftover of an earlier run.
void MllogReader::keep(Interval interval, bool is_last, int64_t start_ns, int64_t end_ns) {
  const bool is_left_behind = interval.open && !is_last && interval.from_ns < start_ns;
  if (interval.open) interval.to_ns = std::max(end_ns, interval.from_ns);
  if (is_left_behind || interval.to_ns < start_ns || (interval.from_ns > end_ns && end_ns != 0)) {
    ++log_.outside;
    return;
  }
  model::PhaseRow phase;
  phase.name = util::escaped_utf8(interval.epoch.empty() ? interval.key : interval.key + " " + interval.epoch);
  phase.error_ns = interval.mark.error_ns;
  phase.proc_id = interval.proc_id;
  if (interval.from_ns < start_ns) {
    interval.lines.start = {};
    interval.from_ns = start_ns;
  }
  if (end_ns != 0 && interval.to_ns > end_ns) interval.to_ns = std::max(end_ns, interval.from_ns);
  phase.ts_ns = interval.from_ns;
  phase.dur_ns = interval.to_ns - interval.from_ns;
  log_.phases.push_back(std::move(phase));
  log_.bounds.push_back(interval.lines);
  log_.marks.push_back(std::move(interval.mark));
}

void MllogReader::sort_phases() {
  std::vector<size_t> order(log_.phases.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return log_.phases[a].ts_ns < log_.phases[b].ts_ns; });
  std::vector<model::PhaseRow> phases;
  std::vector<Mllog::Bounds> bounds;
  for (const size_t i : order) {
    phases.push_back(std::move(log_.phases[i]));
    phases.back().phase_id = static_cast<int32_t>(phases.size());
    bounds.push_back(log_.bounds[i]);
  }
  log_.phases = std::move(phases);
  log_.bounds = std::move(bounds);
}

Mllog MllogReader::finish(int64_t start_ns, int64_t end_ns) {
  for (MllogEvent& event : events_) match(event);
  events_.clear();
  log_.outside += std::erase_if(log_.marks, [&](const model::MarkRow& mark) {
    const int64_t at = mark.origin.ts_ns;
    return at + mark.error_ns < start_ns || (end_ns != 0 && at - mark.error_ns > end_ns);
  });
  std::map<std::string, size_t> last_of_key;
  for (size_t i = 0; i < intervals_.size(); ++i) last_of_key[intervals_[i].key] = i;
  for (size_t i = 0; i < intervals_.size(); ++i) {
    const bool is_last = intervals_[i].proc_id != 0 || last_of_key[intervals_[i].key] == i;
    keep(std::move(intervals_[i]), is_last, start_ns, end_ns);
  }
  sort_phases();
  std::stable_sort(log_.marks.begin(), log_.marks.end(),
                   [](const auto& a, const auto& b) { return a.origin.ts_ns < b.origin.ts_ns; });
  return std::move(log_);
}

summary::TimeWindow MllogLine::window() const { return {ts_ns, ts_ns + kMillisecondNs}; }

std::vector<summary::TimeWindow> undecided(const Mllog& mllog) {
  std::vector<summary::TimeWindow> windows;
  for (const Mllog::Bounds& bounds : mllog.bounds) {
    for (const MllogLine* line : {&bounds.start, &bounds.end}) {
      if (line->known()) windows.push_back(line->window());
    }
  }
  return windows;
}

namespace {

// Start of the line's write, or the end of its millisecond if the thread was delayed between stamp and write. nullopt:
// no known write, or the line was buffered and written later.
std::optional<WallTime> moment_of(const MllogLine& line, const LogWrites& writes) {
  const auto written = line.known() ? writes.start_of(line.log, line.place) : std::nullopt;
  const auto [first_ns, end_ns] = line.window();
  if (!written || *written < first_ns - line.error_ns - events::kMllogSlackNs) return std::nullopt;
  if (*written <= end_ns) return WallTime{std::max(*written, first_ns), 0};
  if (*written > end_ns + kHeldUpNs) return std::nullopt;
  return WallTime{end_ns, line.error_ns + kMillisecondNs};
}

}  // namespace

// Sets the process that wrote each line, in logs that several processes write. Lines without a write at the moment of their stamp are left
// out: they may be another process's (interleaved writes) or of an earlier run.
void MllogReader::find_writers(const LogWrites& writes) {
  std::map<size_t, std::set<int32_t>> writers;  // by log
  for (MllogEvent& event : events_) {
    if (!moment_of(event.line, writes)) continue;
    event.proc_id = writes.process_of(event.line.log, event.line.place);
    if (event.proc_id != 0) writers[event.line.log].insert(event.proc_id);
  }
  for (MllogEvent& event : events_) {
    if (writers[event.line.log].size() < 2) event.proc_id = 0;
  }
}

void settle(Mllog& mllog, const LogWrites& writes) {
  for (size_t i = 0; i < mllog.phases.size(); ++i) {
    model::PhaseRow& phase = mllog.phases[i];
    const Mllog::Bounds& lines = mllog.bounds[i];
    const auto start = moment_of(lines.start, writes), end = moment_of(lines.end, writes);
    const auto error_of = [](const MllogLine& line, const std::optional<WallTime>& moment) {
      return moment ? moment->error_ns : line.known() ? line.error_ns + kMillisecondNs : 0;
    };
    const int64_t from_ns = start ? start->ts_ns : phase.ts_ns, to_ns = end ? end->ts_ns : phase.end_ns();
    phase.ts_ns = from_ns;
    phase.dur_ns = std::max<int64_t>(0, to_ns - from_ns);
    phase.error_ns = std::max(error_of(lines.start, start), error_of(lines.end, end));
  }
}

}  // namespace mlrun::trace
