// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/process_ends.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace mlrun::trace {
namespace {

// Summary of a process's channels.
struct ChannelFacts {
  bool channels = false, lost = false, running = false;
};

}  // namespace

void note_waits(std::vector<model::ProcessRow>& processes, const ProcessNotes& notes,
                const std::vector<Channel>& channels) {
  using Key = std::pair<int64_t, uint32_t>;  // pid namespace, pid in it
  // By the pid that the waiting process uses: start time and proc_id.
  std::map<Key, std::vector<std::pair<int64_t, int32_t>>> known;
  for (const model::ProcessRow& row : processes) {
    known[{row.pid_namespace, static_cast<uint32_t>(row.ns_pid)}].emplace_back(row.first_ns, row.proc_id);
  }
  for (const ChildFact& child : notes.children()) {
    const auto space = static_cast<int64_t>(channels[child.channel].about.pid_namespace);
    if (child.proc_id != 0) known[{space, child.pid}].emplace_back(child.ts_ns, child.proc_id);
  }
  for (auto& [key, list] : known) std::sort(list.begin(), list.end());
  for (const ChildEndFact& end : notes.child_ends()) {
    const auto found = known.find({static_cast<int64_t>(channels[end.channel].about.pid_namespace), end.pid});
    if (found == known.end()) continue;
    const auto next = std::upper_bound(found->second.begin(), found->second.end(), std::pair(end.ts_ns, INT32_MAX));
    if (next == found->second.begin()) continue;
    model::ProcessRow& row = processes[static_cast<size_t>(std::prev(next)->second) - 1];
    row.exit_status = end.status;
    row.end = WIFEXITED(end.status) ? "exit" : "no exit";
  }
}

void set_ends(std::vector<model::ProcessRow>& processes, const SpoolChannels& channels,
              const std::vector<OfChannel<mlrun_frame_gap>>& gaps, bool only_newest) {
  bool run_lost = only_newest;
  std::set<uint64_t> running, torn;  // serials
  for (const auto& [serial, gap] : gaps) {
    if (gap.reason == MLRUN_GAP_CUT_OFF) {
      running.insert(serial);
    } else if (serial == 0) {
      run_lost = true;
    } else {
      torn.insert(serial);
    }
  }
  std::unordered_map<int32_t, ChannelFacts> facts;
  for (const Channel& channel : channels.all()) {
    ChannelFacts& of = facts[channel.origin.proc_id];
    const auto dropped = std::any_of(std::begin(channel.counters.drops), std::end(channel.counters.drops),
                                     [](const auto& drops) { return drops != 0; });
    of.channels = true;
    of.lost |= dropped || channel.lost != 0 || channel.missing_frames != 0 || torn.contains(channel.serial);
    of.running |= running.contains(channel.serial);
  }
  for (model::ProcessRow& process : processes) {
    const ChannelFacts of = facts[process.proc_id];
    if (!process.end.empty() || !of.channels) continue;
    if (of.running) {
      process.end = "running";
    } else if (!run_lost && !of.lost) {
      process.end = "no record";
    }
  }
}

void withdraw_ends(std::vector<model::ProcessRow>& processes, const model::Run& session) {
  const bool all_could = session.collector.failed("no_channel") <= 0 && session.collector.failed("no_clock") <= 0;
  if (all_could) return;
  for (model::ProcessRow& process : processes) {
    if (process.end == "no record") process.end.clear();
  }
}

void note_exit_status(std::vector<model::ProcessRow>& processes, int64_t wait_status) {
  model::ProcessRow* command = nullptr;
  for (model::ProcessRow& process : processes) {
    if (process.parent_proc_id == 0 && (!command || process.first_ns < command->first_ns)) command = &process;
  }
  if (!command || wait_status == -1) return;
  command->exit_status = wait_status;
  command->end = WIFEXITED(wait_status) ? "exit" : "no exit";
}

}  // namespace mlrun::trace
