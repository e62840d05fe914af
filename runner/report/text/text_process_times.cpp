// SPDX-License-Identifier: Apache-2.0
// Processes by the time of their calls on files; processes of one role and command are one row. With the bytes that they sent to other processes and
// received from them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

struct ProcessSum {
  const summary::ProcessSummary* first = nullptr;
  std::string name;
  int64_t processes = 0, longest_ns = 0;
  summary::Totals files, channels;
};

// The names of the program and of its script without their folders, then the other arguments.
std::string short_command(const std::string& command) {
  std::string out;
  size_t at = 0;
  for (int word = 0; word < 2 && at < command.size(); ++word) {
    const size_t end = std::min(command.find(' ', at), command.size());
    const std::string_view whole = std::string_view(command).substr(at, end - at);
    if (whole.starts_with('-')) break;
    out.append(util::base_name(whole));
    at = end + 1;
    if (at < command.size()) out += ' ';
  }
  return at < command.size() ? out + command.substr(at) : out;
}

bool is_named_by_command(const summary::ProcessSummary& process) {
  return process.role == "main" || process.role == "child" || process.role.starts_with("rank ");
}

std::string process_label(const summary::ProcessSummary& process) {
  const std::string role = process.role.empty() ? "process" : process.role;
  return is_named_by_command(process) && !process.command.empty() ? role + "  " + short_command(process.command) : role;
}

std::vector<ProcessSum> add_up_processes(const Summary& summary) {
  std::vector<ProcessSum> sums;
  for (const summary::ProcessSummary& process : summary.processes) {
    const std::string name = process_label(process);
    // Processes that run the same command are one row; each rank has its own.
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const ProcessSum& sum) { return sum.name == name; });
    ProcessSum& sum = same == sums.end() ? sums.emplace_back() : *same;
    if (sum.first == nullptr) sum.first = &process;
    sum.name = name;
    ++sum.processes;
    sum.longest_ns = std::max(sum.longest_ns, process.last_ns - process.first_ns);
    sum.files.add(process.totals[size_t(summary::Group::kFiles)]);
    sum.channels.add(process.totals[size_t(summary::Group::kChannels)]);
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const ProcessSum& a, const ProcessSum& b) { return a.files.time_ns > b.files.time_ns; });
  return sums;
}

std::string bytes_or_dash(int64_t bytes) { return bytes == 0 ? "-" : util::bytes_text(bytes); }

}  // namespace

std::string process_times_text(const Summary& summary, const TextStyle& style, size_t rows) {
  if (summary.processes.empty()) return "";
  const std::vector<ProcessSum> sums = add_up_processes(summary);
  const bool is_wide = style.width >= 80;
  std::vector<std::string> titles{std::string("PROCESSES") + of_text(rows, sums.size()),
                                  "pid",
                                  "lived",
                                  "I/O time",
                                  "read",
                                  "written",
                                  "received",
                                  "sent"};
  if (!is_wide) titles.erase(titles.begin() + 2);
  TextTable table(titles);
  for (size_t i = 0; i < sums.size() && i < rows; ++i) {
    const ProcessSum& sum = sums[i];
    const bool is_one = sum.processes == 1;
    std::string name = printable(sum.name);
    if (!is_one)
      name = fmt::format("{} {}", util::count_text(sum.processes), is_named_by_command(*sum.first) ? name : name + "s");
    std::vector<std::string> cells{name,
                                   is_one ? std::to_string(sum.first->pid) : "-",
                                   util::time_text(sum.longest_ns, style.glyphs),
                                   util::time_text(sum.files.time_ns, style.glyphs),
                                   bytes_or_dash(sum.files.bytes_read),
                                   bytes_or_dash(sum.files.bytes_written),
                                   bytes_or_dash(sum.channels.bytes_read),
                                   bytes_or_dash(sum.channels.bytes_written)};
    if (!is_wide) cells.erase(cells.begin() + 2);
    table.add_indented("  ", std::move(cells));
  }
  add_more(rows, sums.size(), "summary_process", table);
  return table.text(style);
}

}  // namespace mlrun::report
