// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/process_ends.h"

#include <sys/wait.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace mlrun::trace {
namespace {

// Of a process's channels, taken together.
struct Told {
  bool channels = false, lost = false, running = false;
};

}  // namespace

void tell_ends(std::vector<model::ProcessRow>& processes, const ChannelTable& channels,
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
  std::unordered_map<int32_t, Told> told;
  for (const Channel& channel : channels.all()) {
    Told& of = told[channel.origin.proc_id];
    const auto dropped = std::any_of(std::begin(channel.counters.drops), std::end(channel.counters.drops),
                                     [](const auto& drops) { return drops != 0; });
    of.channels = true;
    of.lost |= dropped || channel.lost != 0 || channel.missing_frames != 0 || torn.contains(channel.serial);
    of.running |= running.contains(channel.serial);
  }
  for (model::ProcessRow& process : processes) {
    const Told of = told[process.proc_id];
    if (!process.end.empty() || !of.channels) continue;
    if (of.running) {
      process.end = "running";
    } else if (!run_lost && !of.lost) {
      process.end = "no exit";
    }
  }
}

void withdraw_ends(std::vector<model::ProcessRow>& processes, const SessionInfo& session) {
  const bool all_could = session.number("/collector/failures/no_channel", 0) <= 0 &&
                         session.number("/collector/failures/no_clock", 0) <= 0;
  if (all_could) return;
  for (model::ProcessRow& process : processes) {
    if (process.end == "no exit") process.end.clear();
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
