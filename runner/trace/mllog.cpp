// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/mllog.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runner/trace/limits.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr std::string_view kMarker = ":::MLLOG";
constexpr int64_t kMillisecondNs = 1'000'000;  // times are cut to it
constexpr double kLatestMs = 9.0e12;           // year 2255

std::string without_suffix(std::string key, std::initializer_list<std::string_view> suffixes) {
  for (const std::string_view suffix : suffixes) {
    if (key.size() > suffix.size() && key.ends_with(suffix)) return key.substr(0, key.size() - suffix.size());
  }
  return key;
}

// The number that tells the intervals of one key apart.
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

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

void MllogReader::read(std::istream& lines) {
  std::string line;
  for (char byte = 0; lines.get(byte);) {
    if (byte != '\n') {
      if (line.size() <= kMarkLineMax) line += byte;
      continue;
    }
    read_line(line);
    line.clear();
  }
  read_line(line);
}

void MllogReader::read_file(const std::string& path) {
  std::ifstream lines(path);
  if (lines) {
    read(lines);
  } else {
    ++log_.unreadable_files;
  }
}

void MllogReader::read_line(const std::string& line) {
  const size_t at = line.find(kMarker);
  if (at == std::string::npos) return;
  const json event =
      json::parse(line.begin() + static_cast<ptrdiff_t>(at + kMarker.size()), line.end(), nullptr, false);
  const auto ms = event.is_object() ? milliseconds_of(event) : std::nullopt;
  const std::string key = event.is_object() ? text_in(event, "key") : std::string();
  if (!ms || key.empty() || log_.marks.size() + intervals_.size() >= kMarksMax) {
    ++log_.unreadable_lines;
    return;
  }
  WallTime time = clock_.from_realtime(static_cast<int64_t>(*ms * kMillisecondNs));
  time.error_ns += kMillisecondNs;
  const std::string type = text_in(event, "event_type"), epoch = epoch_of(event);
  if (type == "INTERVAL_END") return end_interval(without_suffix(key, {"_stop", "_end"}), epoch, time);

  model::MarkRow mark;
  mark.origin.ts_ns = time.ts_ns;
  mark.error_ns = time.error_ns;
  mark.domain = "mllog";
  mark.name = util::escaped_utf8(key);
  mark.scope = "run";
  const auto value = event.find("value");
  mark.value = value == event.end() ? "null" : dumped(*value);
  if (type == "INTERVAL_START") {
    intervals_.push_back({without_suffix(key, {"_start", "_begin"}), epoch, std::move(mark), true});
  } else {
    log_.marks.push_back(std::move(mark));
  }
}

// The latest interval of that key that is open; of several epochs the one that says the same number.
void MllogReader::end_interval(const std::string& key, const std::string& epoch, const WallTime& time) {
  const auto fits = [&](const Interval& interval) {
    return interval.open && interval.key == key && (interval.epoch == epoch || interval.epoch.empty() || epoch.empty());
  };
  const auto found = std::find_if(intervals_.rbegin(), intervals_.rend(), fits);
  if (found == intervals_.rend()) {
    ++log_.unmatched_ends;
    return;
  }
  found->open = false;
  if (found->epoch.empty()) found->epoch = epoch;
  found->mark.dur_ns = std::max<int64_t>(0, time.ts_ns - found->mark.origin.ts_ns);
  found->mark.error_ns = std::max(found->mark.error_ns, time.error_ns);
}

Mllog MllogReader::finish(int64_t end_ns) {
  for (Interval& interval : intervals_) {
    const model::MarkRow& mark = interval.mark;
    model::PhaseRow phase;
    phase.name = util::escaped_utf8(interval.epoch.empty() ? interval.key : interval.key + " " + interval.epoch);
    phase.ts_ns = mark.origin.ts_ns;
    phase.dur_ns = interval.open ? std::max<int64_t>(0, end_ns - phase.ts_ns) : mark.dur_ns;
    phase.error_ns = mark.error_ns;
    log_.phases.push_back(std::move(phase));
    log_.marks.push_back(std::move(interval.mark));
  }
  std::stable_sort(log_.phases.begin(), log_.phases.end(),
                   [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  for (size_t i = 0; i < log_.phases.size(); ++i) log_.phases[i].phase_id = static_cast<int32_t>(i) + 1;
  std::stable_sort(log_.marks.begin(), log_.marks.end(),
                   [](const auto& a, const auto& b) { return a.origin.ts_ns < b.origin.ts_ns; });
  return std::move(log_);
}

}  // namespace mlrun::trace
