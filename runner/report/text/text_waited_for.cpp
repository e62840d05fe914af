// SPDX-License-Identifier: Apache-2.0
// Which threads the driver waited for, and what they were doing. Threads of one role that did the same are one row.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::WaitedFor;

constexpr int64_t kLeastOfWaiting = 100;  // the block, and each row but the first, has a hundredth of the wall time

struct Others {
  const WaitedFor* most = nullptr;  // of these threads, the one with most of the time
  std::set<int32_t> pids, tids;
  int64_t ns = 0;
};

bool is_unknown(const summary::Answer& answer, const WaitedFor& row) {
  return row.tid == 0 || row.tid == answer.driver_tid || row.doing == "waiting" || row.doing == "idle";
}

std::vector<Others> add_up_waits(const summary::Answer& answer) {
  std::vector<Others> sums;
  for (const WaitedFor& row : answer.waited_for) {
    const bool unknown = is_unknown(answer, row);
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const Others& other) {
      if (unknown || is_unknown(answer, *other.most)) return unknown && is_unknown(answer, *other.most);
      return other.most->role == row.role && other.most->thread == row.thread && other.most->doing == row.doing;
    });
    Others& sum = same == sums.end() ? sums.emplace_back() : *same;
    if (sum.most == nullptr || row.ns > sum.most->ns) sum.most = &row;
    sum.pids.insert(row.pid);
    sum.tids.insert(row.tid);
    util::add_to(sum.ns, row.ns);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Others& a, const Others& b) { return a.ns > b.ns; });
  return sums;
}

std::string others_name(const summary::Answer& answer, const Others& others) {
  if (is_unknown(answer, *others.most)) return "(the thread is unknown)";
  const WaitedFor& most = *others.most;
  const std::string role = most.role.empty() ? "process" : most.role;
  const std::string thread = most.thread.empty() ? "" : fmt::format(", thread {}", most.thread);
  const std::string threads = thread.empty() || others.tids.size() == 1
                                  ? thread
                                  : fmt::format(", {} threads {}", others.tids.size(), most.thread);
  // One of several processes has nearly all of the time.
  if (others.pids.size() > 1 && 5 * (most.ns / 4) >= others.ns)
    return printable(fmt::format("{} ({}){}, one of {}", role, most.pid, thread, others.pids.size()));
  if (others.pids.size() == 1) return printable(fmt::format("{} ({}){}", role, most.pid, threads));
  return printable(fmt::format("{} {}s{}", others.pids.size(), role, threads));
}

}  // namespace

std::string waited_for_text(const Summary& summary, const TextStyle& style, size_t rows) {
  const summary::Answer& answer = summary.answer;
  if (answer.waiting_ns <= 0 || answer.waiting_ns < answer.wall_ns / kLeastOfWaiting) return "";
  std::vector<Others> sums = add_up_waits(answer);
  while (sums.size() > 1 && sums.back().ns < answer.wall_ns / kLeastOfWaiting) sums.pop_back();
  TextTable table({fmt::format("WHO WAITED FOR WHOM{}  {} waited {}", of_text(rows, sums.size()), driver_name(summary),
                               util::time_text(answer.waiting_ns, style.glyphs)),
                   "time", "of the run"});
  for (size_t i = 0; i < sums.size() && i < rows; ++i) {
    const WaitedFor& most = *sums[i].most;
    std::string name = others_name(answer, sums[i]);
    if (!is_unknown(answer, most)) {
      name += ": " + most.doing;
      if (!most.line.empty()) name += " " + printable(most.line);
    }
    table.add_indented(style.glyphs.pick("  ← ", "  <- "), {name, util::time_text(sums[i].ns, style.glyphs),
                                                            util::percent_text(sums[i].ns, answer.wall_ns)});
  }
  add_more(rows, sums.size(), "summary_waited_for", table);
  return table.text(style);
}

}  // namespace mlrun::report
