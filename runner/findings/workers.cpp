// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/workers.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "runner/util/median.h"

namespace mlrun::findings {

namespace {

using blame::Thread;
using blame::Wait;
using blame::WaitKind;

constexpr double kBusy = 0.8, kOthersBusy = 0.5;  // shares of the driver's waiting
constexpr double kLivesMin = 0.1;  // share of the driver's waiting: a worker that existed for less is not compared
// Shares of the most messages sent by a worker, of the longest wait for a thread.
constexpr double kAlike = 0.1, kAlikeThread = 0.2;

using Stretches = std::vector<std::pair<Ns, Ns>>;

Stretches waiting(const Context& context) {
  Stretches all;
  for (const Divided& piece : context.analysis.division.pieces) {
    if (piece.activity == summary::Activity::kWait) all.emplace_back(piece.start_ns, piece.end_ns);
  }
  std::sort(all.begin(), all.end());
  Stretches merged;
  for (const auto& one : all) {
    if (!merged.empty() && one.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, one.second);
    } else {
      merged.push_back(one);
    }
  }
  return merged;
}

// Share of the stretches in which a thread was not waiting for a task; -1: it hardly existed during them.
double busy_in(const Context& context, const Thread& thread, const Stretches& stretches, Ns total_ns) {
  Ns alive_ns = 0, idle_ns = 0;
  for (const auto& [from_ns, to_ns] : stretches) {
    const Ns a_ns = std::max(from_ns, thread.first_ns), b_ns = std::min(to_ns, thread.last_ns);
    if (b_ns <= a_ns) continue;
    alive_ns += b_ns - a_ns;
    for (size_t i = thread.first_wait(a_ns); i < thread.waits.size() && thread.waits[i].start_ns < b_ns; ++i) {
      const Wait& wait = thread.waits[i];
      const bool for_task = wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kLock ||
                            wait.kind == WaitKind::kChannelRead || wait.kind == WaitKind::kConnection;
      if (!for_task || context.timeline().is_python_lock(thread.proc_id, wait)) continue;
      idle_ns += std::min(b_ns, wait.end_ns) - std::max(a_ns, wait.start_ns);
    }
  }
  if (static_cast<double>(alive_ns) < kLivesMin * static_cast<double>(total_ns)) return -1;
  return 1 - static_cast<double>(idle_ns) / static_cast<double>(alive_ns);
}

// Share of the stretches in which a worker waited at a lock shared by processes, or at one that another worker of the process released.
double locked_in(const Context& context, const Thread& thread, const std::vector<int32_t>& workers,
                 const Stretches& stretches, Ns total_ns) {
  Ns locked_ns = 0;
  for (const auto& [from_ns, to_ns] : stretches) {
    for (size_t i = thread.first_wait(from_ns); i < thread.waits.size() && thread.waits[i].start_ns < to_ns; ++i) {
      const Wait& wait = thread.waits[i];
      const bool by_worker = wait.kind == WaitKind::kLock && wait.poster != thread.thread_id &&
                             std::find(workers.begin(), workers.end(), wait.poster) != workers.end();
      const bool between = context.analysis.divider->ends().is_shared_lock(thread.thread_id, wait);
      if (!by_worker && !between && wait.kind != WaitKind::kFileLock) continue;
      if (context.timeline().is_python_lock(thread.proc_id, wait)) continue;
      locked_ns += std::min(to_ns, wait.end_ns) - std::max(from_ns, wait.start_ns);
    }
  }
  return static_cast<double>(locked_ns) / static_cast<double>(total_ns);
}

double median_locked(const Context& context, const Stretches& stretches, Ns total_ns) {
  std::vector<int32_t> workers;
  for (const Worker& worker : context.workers) workers.push_back(worker.thread_id);
  std::vector<double> shares;
  for (const int32_t worker : workers) {
    shares.push_back(locked_in(context, context.timeline().thread(worker), workers, stretches, total_ns));
  }
  if (shares.size() < 2) return 0;
  return util::upper_median(std::move(shares));
}

// By process: the channel on which it sends to the driver.
std::unordered_map<int32_t, int64_t> channels_to_driver(const Context& context) {
  std::unordered_map<int32_t, int64_t> channels;
  for (const int64_t file_id : context.analysis.division.batches.channels) {
    const auto* messages = context.timeline().find_messages(file_id);
    if (messages == nullptr) continue;
    for (const blame::Message& message : *messages)
      channels.emplace(context.timeline().thread(message.thread_id).proc_id, file_id);
  }
  return channels;
}

// The threads that may feed the driver: workers that send enough; if there are none, threads of the driver's process that it waited long for.
std::vector<int32_t> candidates(const Context& context, const std::map<int32_t, double>& waited_for) {
  const auto& timeline = context.timeline();
  const int32_t own = timeline.thread(context.analysis.division.driver).proc_id;
  std::unordered_map<int32_t, int64_t> sent;
  for (const auto& [file_id, messages] : timeline.messages) {
    for (const blame::Message& message : messages) ++sent[timeline.thread(message.thread_id).proc_id];
  }
  int64_t most_sent = 0;
  for (const blame::Process& process : timeline.processes) {
    const bool feeds =
        process.proc_id != own && process.main != 0 && context.analysis.divider->chain().is_worker(process.proc_id);
    if (feeds) most_sent = std::max(most_sent, sent[process.proc_id]);
  }
  std::vector<int32_t> found;
  for (const blame::Process& process : timeline.processes) {
    if (process.proc_id == own || process.main == 0 || !context.analysis.divider->chain().is_worker(process.proc_id))
      continue;
    if (static_cast<double>(sent[process.proc_id]) > kAlike * static_cast<double>(most_sent))
      found.push_back(process.main);
  }
  if (!found.empty()) return found;
  double most_waited = 0;
  for (const auto& [thread, ns] : waited_for) most_waited = std::max(most_waited, ns);
  for (const auto& [thread, ns] : waited_for) {
    const bool inside =
        thread != 0 && thread != context.analysis.division.driver && timeline.thread(thread).proc_id == own;
    if (inside && ns > kAlikeThread * most_waited) found.push_back(thread);
  }
  return found;
}

}  // namespace

void find_workers(Context& context) {
  const Stretches stretches = waiting(context);
  Ns total_ns = 0;
  for (const auto& [from_ns, to_ns] : stretches) total_ns += to_ns - from_ns;
  if (total_ns == 0) return;
  std::map<int32_t, double> waited_for;
  for (const Divided& piece : context.analysis.division.pieces) {
    if (piece.activity == summary::Activity::kWait) waited_for[piece.first_thread] += piece.ns();
  }
  const auto channels = channels_to_driver(context);
  // By channel: the driver's waiting for its workers; the loader with most of it is the one that counts.
  std::map<int64_t, double> by_channel;
  std::vector<int32_t> found = candidates(context, waited_for);
  const auto channel_of = [&](int32_t thread) {
    const auto channel = channels.find(context.timeline().thread(thread).proc_id);
    return channel == channels.end() ? int64_t{0} : channel->second;
  };
  for (const int32_t thread : found) {
    const int32_t proc_id = context.timeline().thread(thread).proc_id;
    for (const auto& [who, ns] : waited_for) {
      if (who != 0 && context.timeline().thread(who).proc_id == proc_id) by_channel[channel_of(thread)] += ns;
    }
  }
  const auto best = std::max_element(by_channel.begin(), by_channel.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const int32_t thread : found) {
    if (best != by_channel.end() && channel_of(thread) != best->first) continue;
    const double busy = busy_in(context, context.timeline().thread(thread), stretches, total_ns);
    if (busy >= 0) context.workers.push_back({thread, busy});
  }
  context.locked = median_locked(context, stretches, total_ns);
  std::sort(context.workers.begin(), context.workers.end(),
            [](const Worker& a, const Worker& b) { return a.busy > b.busy; });
  if (context.workers.size() < 2) return;
  context.median_busy = context.workers[1 + (context.workers.size() - 1) / 2].busy;
  if (context.workers[0].busy >= kBusy && context.median_busy < kOthersBusy)
    context.slow_worker = context.workers[0].thread_id;
}

}  // namespace mlrun::findings
