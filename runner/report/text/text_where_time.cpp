// SPDX-License-Identifier: Apache-2.0
// Where the time of the run went: what the driver did. The rows add up to the wall time.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/summary/slow_steps.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::Activity;
using summary::Answer;
using summary::State;

constexpr int64_t kLeastOfTime = 100;  // a row has at least a hundredth of the time
constexpr size_t kWidestBar = 30, kNarrowestBar = 6;

struct TimeLine {
  std::string name;
  int64_t ns = 0;
};

// What the driver did itself, and its state in that time.
std::string own_name(const summary::TimeShare& one) {
  static constexpr const char* kNames[] = {"start-up",      "computing", "loading data itself", "receiving batches",
                                           "waiting",       "own files", "checkpoint",          "logging",
                                           "Python's lock", "end"};
  static constexpr const char* kStates[] = {
      "", ", waiting for a processor", ", on a device", ", on a server or socket", ", page faults", ", asleep", ""};
  return std::string(kNames[size_t(one.activity)]) + kStates[size_t(one.state)];
}

// The state in a wait is that of the thread that the driver waited for.
std::string wait_name(State state) {
  switch (state) {
    case State::kOnCpu: return "waiting for others that compute";
    case State::kRunQueue: return "waiting for others that wait for a processor";
    case State::kDevice: return "waiting for others that use a device";
    case State::kRemote: return "waiting for a server or socket";
    case State::kPageFault: return "waiting for others in page faults";
    case State::kBlocked: return "waiting for others that sleep";
    case State::kUnknown: break;
  }
  return "waiting for others that use files";
}

int64_t activity_ns(const Answer& answer, Activity activity) {
  int64_t sum = 0;
  for (const summary::TimeShare& one : answer.time) sum += one.activity == activity ? one.ns : 0;
  return sum;
}

// Lines by time. Small ones are added up. Start-up and end are last; only a small end is added to the small ones, if there are any.
std::vector<TimeLine> time_lines(const Answer& answer) {
  std::vector<TimeLine> rows;
  TimeLine others;
  size_t small = 0;
  for (const summary::TimeShare& one : answer.time) {
    if (one.activity == Activity::kStartup || one.activity == Activity::kEnd) continue;
    TimeLine row{one.activity == Activity::kWait ? wait_name(one.state) : own_name(one), one.ns};
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const TimeLine& other) { return other.name == row.name; });
    if (same != rows.end()) {
      same->ns += row.ns;
    } else if (one.ns < answer.wall_ns / kLeastOfTime) {
      others.ns += one.ns;
      others.name = ++small == 1 ? row.name : "other";
    } else {
      rows.push_back(std::move(row));
    }
  }
  const bool has_batches = answer.batches_from_ns != 0;
  TimeLine end{has_batches ? "end, after the last batch" : "end", activity_ns(answer, Activity::kEnd)};
  if (end.ns < answer.wall_ns / kLeastOfTime && others.ns > 0) {
    others.ns += std::exchange(end.ns, 0);
    others.name = "other";
  }
  if (others.ns > 0) rows.push_back(std::move(others));
  rows.push_back(
      {has_batches ? "start-up, before the first batch" : "start-up", activity_ns(answer, Activity::kStartup)});
  rows.push_back(std::move(end));
  std::erase_if(rows, [](const TimeLine& row) { return row.ns == 0; });
  return rows;
}

std::string bar_text(int64_t ns, int64_t wall_ns, size_t width, const util::Glyphs& glyphs) {
  const auto length = std::clamp<size_t>(size_t(std::lround(double(ns) / double(wall_ns) * double(width))), 1, width);
  std::string out;
  for (size_t i = 0; i < length; ++i) out += glyphs.pick("█", "#");
  return out;
}

// Without Python stacks, a driver that loads data itself looks as if it computed.
std::string cannot_tell_text(const Summary& summary, const TextStyle& style) {
  if (summary.run.options.python_stacks_hz.value_or(1) > 0) return "";
  return paragraph("without a batch: unknown: the driver waited for no other thread; record with --python-stacks", 2, 3,
                   style);
}

std::string without_batch_text(const Summary& summary, const TextStyle& style) {
  const Answer& answer = summary.answer;
  if (answer.without_batch_ns < 0) return cannot_tell_text(summary, style);
  const auto time = [&](int64_t ns) { return util::time_text(ns, style.glyphs); };
  if (answer.without_batch_ns == 0 && answer.batches_from_ns == 0) return "";
  const int64_t loop_ns = answer.batches_from_ns == 0 ? answer.wall_ns : answer.batches_to_ns - answer.batches_from_ns;
  const std::string range =
      answer.low_ns < 0 ? "" : fmt::format(" ({} to {}, 95 %)", time(answer.low_ns), time(answer.high_ns));
  const std::string loop =
      answer.batches_from_ns == 0 ? std::string() : fmt::format(" of the {} from first to last", time(loop_ns));
  return paragraph(fmt::format("without a batch: {}{}, {}{}", time(answer.without_batch_ns), range,
                               util::percent_text(answer.without_batch_ns, loop_ns), loop),
                   2, 3, style);
}

}  // namespace

std::string driver_name(const Summary& summary) {
  const Answer& answer = summary.answer;
  std::string role = "thread";
  for (const summary::ProcessSummary& process : summary.processes) {
    if (process.pid == answer.driver_pid) role = process.role;
  }
  const std::string thread =
      answer.driver_tid == answer.driver_pid ? "" : fmt::format(", thread {}", answer.driver_tid);
  // Several processes have one rank if torchrun started the rank again after a failure.
  const auto same = std::count_if(summary.processes.begin(), summary.processes.end(),
                                  [&](const summary::ProcessSummary& process) { return process.role == role; });
  const std::string others = role.starts_with("rank ") && same > 1 ? fmt::format(", one of {}", same) : "";
  return fmt::format("{} ({}{}{})", printable(role), answer.driver_pid, thread, others);
}

std::string where_time_text(const Summary& summary, const TextStyle& style) {
  const Answer& answer = summary.answer;
  if (answer.wall_ns <= 0 || answer.time.empty()) return "";
  const std::vector<TimeLine> rows = time_lines(answer);
  constexpr size_t kTime = 11, kShare = 8, kTimeIndent = 2;
  size_t name_width = 0;
  for (const TimeLine& row : rows) name_width = std::max(name_width, text_width(row.name));
  name_width = std::min(name_width, style.width - std::min(style.width - 1, kTimeIndent + kTime + kShare));
  const size_t left = style.width - std::min(style.width, kTimeIndent + name_width + kTime + kShare + 2);
  const size_t bar_width = left < kNarrowestBar ? 0 : std::min(left, kWidestBar);
  const std::string whose =
      fmt::format("of {}, {}", driver_name(summary), util::time_text(answer.wall_ns, style.glyphs));
  std::string out =
      style.bold("WHERE THE TIME WENT") + "  " + style.dim(cut_end(whose, style.width - 21, style.glyphs)) + "\n";
  for (const TimeLine& row : rows) {
    out += "  " + pad_right(cut_end(row.name, name_width, style.glyphs), name_width);
    if (bar_width > 0) out += "  " + pad_right(bar_text(row.ns, answer.wall_ns, bar_width, style.glyphs), bar_width);
    out += pad_left(util::time_text(row.ns, style.glyphs), kTime) +
           pad_left(util::percent_text(row.ns, answer.wall_ns), kShare) + "\n";
  }
  out += without_batch_text(summary, style);
  const std::string no_steps = summary::no_steps_text(answer);
  return no_steps.empty() ? out : out + paragraph("steps: unknown: " + no_steps, 2, 3, style);
}

}  // namespace mlrun::report
