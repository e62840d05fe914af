// SPDX-License-Identifier: Apache-2.0
// Where Python was, from samples of its stacks: lines outside of installed packages. Shares are of the samples of a line's group: the driver's, or
// those of the other threads of a role.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/model/stack_table.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/summary/meters/python_meter.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::PythonSummary;

constexpr double kLeastShare = 0.02;
// Smallest share of lines in libraries that is shown for threads other than the driver.
constexpr double kLeastOfLibraries = 0.05;
constexpr int64_t kFewest = 30;  // a group with fewer samples gives no reliable shares

using PythonGroup = std::pair<bool, std::string>;  // is the driver, role

PythonGroup group_of(const PythonSummary& line) { return {line.is_driver != 0, line.role}; }

std::string group_name(const PythonSummary& line, const std::string& drivers_role) {
  if (line.is_driver != 0) return "driver";
  const std::string role = line.role.empty() ? "process" : printable(line.role);
  return line.role == drivers_role ? role + ", others" : role;
}

// Whether sleep at the line is most often rest: a line in a library, or of a helper of multiprocessing, but not of the driver.
bool may_rest(const PythonSummary& line) {
  const bool helps = line.role == "resource tracker" || line.role == "fork server";
  return line.is_driver == 0 && (helps || summary::is_installed(line.source));
}

std::string line_name(const PythonSummary& line) {
  if (line.source.empty() && line.function.empty()) return "other lines";
  model::FrameRow frame;
  frame.function = line.function;
  frame.source = line.source;
  frame.line = line.line;
  return printable(model::python_line(frame));
}

// Time that the samples at a line represent: in all, running, and asleep. If the time is unknown, the numbers of samples. Threads are sampled at
// different rates.
struct PythonTime {
  double all = 0, running = 0, waiting = 0;
};

PythonTime time_of(const PythonSummary& line) {
  if (line.time_ns == 0) return {double(line.samples), double(line.running), double(line.waiting)};
  const auto rest = double(line.time_ns - line.running_ns);
  const int64_t not_running = line.samples - line.running;
  return {double(line.time_ns), double(line.running_ns),
          not_running > 0 ? rest * double(line.waiting) / double(not_running) : 0};
}

// Half of the width of a share's 95 % interval.
std::string half_text(int64_t part, int64_t whole) {
  const double share = double(part) / double(whole);
  const double half = 1.96 * std::sqrt(share * (1 - share) / double(whole));
  return fmt::format("{:.0f}", std::ceil(100 * half));
}

}  // namespace

std::string python_text(const Summary& summary, const TextStyle& style, size_t rows) {
  std::map<PythonGroup, int64_t> all;  // samples
  std::map<PythonGroup, double> time;
  for (const PythonSummary& line : summary.python) {
    util::add_to(all[group_of(line)], line.samples);
    time[group_of(line)] += time_of(line).all;
  }
  std::vector<const PythonSummary*> shown;
  for (const PythonSummary& line : summary.python) {
    if (all[group_of(line)] >= kFewest) shown.push_back(&line);
  }
  const auto weight = [&](const PythonSummary& of) {
    return (may_rest(of) ? time_of(of).running : time_of(of).all) / time[group_of(of)];
  };
  std::erase_if(shown, [&](const PythonSummary* line) {
    return weight(*line) < (may_rest(*line) ? kLeastOfLibraries : kLeastShare);
  });
  if (shown.empty()) return "";
  // Sorted by their shares within their groups, since groups are sampled at different rates.
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const PythonSummary* a, const PythonSummary* b) { return weight(*a) > weight(*b); });
  std::string drivers_role;
  for (const PythonSummary& line : summary.python) {
    if (line.is_driver != 0) drivers_role = line.role;
  }
  const bool is_wide = style.width >= 80;
  std::vector<std::string> titles{"WHERE PYTHON WAS" + of_text(rows, shown.size()), "thread of", "running", "waiting"};
  if (is_wide) titles.insert(titles.end(), {style.glyphs.pick("± %", "+- %"), "samples"});
  TextTable table(titles);
  for (size_t i = 0; i < shown.size() && i < rows; ++i) {
    const PythonSummary& line = *shown[i];
    const int64_t whole = all[group_of(line)];
    const PythonTime of = time_of(line);
    const auto share = [&](double part) {
      return util::percent_text(std::llround(part), std::llround(time[group_of(line)]));
    };
    std::vector<std::string> cells{line_name(line), group_name(line, drivers_role), share(of.running),
                                   share(of.waiting)};
    if (is_wide) cells.insert(cells.end(), {half_text(line.samples, whole), util::count_text(line.samples)});
    table.add_indented("  ", std::move(cells));
  }
  add_more(rows, shown.size(), "summary_python", table);
  return table.text(style);
}

}  // namespace mlrun::report
