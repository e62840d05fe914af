// SPDX-License-Identifier: Apache-2.0
// Texts that several rules use.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

std::string at_line(const Context& context, Cause cause) {
  const std::string line = context.top_line(cause);
  return line.empty() ? line : " at " + line;
}

namespace {

// The largest number of workers that existed at the same time.
size_t at_once(const Context& context) {
  std::vector<std::pair<Ns, int>> changes;
  for (const Worker& worker : context.workers) {
    const blame::Thread& thread = context.timeline().thread(worker.thread_id);
    changes.emplace_back(thread.first_ns, 1);
    changes.emplace_back(thread.last_ns, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [moment_ns, change] : changes) most = std::max(most, now += change);
  return static_cast<size_t>(most);
}

}  // namespace

std::string commands_text(const Context& context, Cause cause) {
  constexpr size_t kAgain = 3;
  const blame::Timeline& timeline = context.timeline();
  const int32_t driver = context.analysis.division.driver;
  const auto& pieces = context.analysis.division.pieces;
  std::map<std::string, std::pair<double, std::set<int32_t>>> commands;  // by program: time, processes
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (context.causes[i] != cause || pieces[i].first_thread == 0) continue;
    if (!context.analysis.divider->chain().is_command(driver, pieces[i].first_thread)) continue;
    const blame::Process& process = timeline.process_of(pieces[i].first_thread);
    const std::string program = process.command.substr(0, process.command.find(' '));
    auto& [ns, processes] = commands[program.substr(program.rfind('/') + 1)];
    ns += pieces[i].ns();
    processes.insert(process.proc_id);
  }
  for (const auto& [name, use] : commands) {
    if (2 * use.first > context.ns_of(cause) && use.second.size() >= kAgain)
      return fmt::format("{} times {}", util::count_text(static_cast<int64_t>(use.second.size())), name);
  }
  return "";
}

std::string workers_text(const Context& context) {
  if (context.workers.empty()) return "the threads that it waited for";
  constexpr size_t kListed = 4;
  std::string busy;
  const size_t listed = std::min(kListed, context.workers.size());
  for (size_t i = 0; i < listed; ++i) {
    busy += fmt::format("{}{:.0f}", i == 0 ? "" : ", ", 100 * context.workers[i].busy);
  }
  const char* more = context.workers.size() > kListed ? ", ..." : "";
  const size_t count = context.workers.size(), together = at_once(context);
  const std::string in_turn = together < count ? fmt::format(" at a time, {} in all", count) : "";
  return fmt::format("{}{}, busy {}{} % of that time", util::counted(int64_t(together), "worker"), in_turn, busy, more);
}

std::string more_workers(const Context& context) {
  const Machine& machine = context.machine;
  const double idle = machine.free();
  if (idle < 0) return "";
  const bool by_limit = idle < machine.idle;
  if (idle < 0.5 && by_limit)
    return fmt::format("; more workers would not help: the cgroup's limit of {:.1f} processors was used up",
                       machine.quota);
  if (idle < 0.5)
    return fmt::format("; more workers would not help: all {} processors were in use", machine.processors);
  return fmt::format("; or {}: {:.1f} of {} processors were idle",
                     util::counted(std::max<int64_t>(1, int64_t(idle)), "more worker"), idle, machine.processors);
}

std::string reads_text(const Context& context) {
  const blame::FileUse& use = context.use;
  if (use.reads == 0) return "no reads";
  return fmt::format("{} reads of {} on average", util::count_text(use.reads),
                     util::bytes_text(use.read_bytes / use.reads));
}

int64_t later_workers(const Context& context) {
  const Ns first_ns = context.analysis.division.batches.first_ns;
  const blame::Chain& chain = context.analysis.divider->chain();
  const auto& processes = context.timeline().processes;
  return std::count_if(processes.begin(), processes.end(), [&](const blame::Process& process) {
    return process.main != 0 && process.first_ns > first_ns && chain.is_worker(process.proc_id);
  });
}

std::string who(const Context& context, Cause cause) {
  const int32_t thread = context.top_thread(cause);
  return thread == 0 ? std::string("an unknown thread") : context.name_of(thread);
}

}  // namespace mlrun::findings
