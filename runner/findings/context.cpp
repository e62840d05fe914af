// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/context.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "runner/blame/driver.h"
#include "runner/blame/timeline/load.h"
#include "runner/findings/file_cause.h"
#include "runner/findings/workers.h"

namespace mlrun::findings {

namespace {

using blame::Label;
using summary::Activity;
using summary::State;

bool is_other_rank(const Context& context, int32_t thread_id) {
  return blame::is_of_other_rank(context.timeline(), context.analysis.division.driver, thread_id);
}

// All time in files has the cause kDataDevice here; settle_files() sets the cause that the use of the files shows.
Cause cause_of_wait(const Context& context, const Divided& piece) {
  if (is_other_rank(context, piece.thread_id)) return Cause::kRankSkew;
  if (blame::is_for_ranks_elsewhere(context.timeline(), context.analysis.division.driver, piece))
    return Cause::kRankSkew;
  switch (piece.label) {
    case Label::kCpu:
    case Label::kLoader:
    case Label::kLogging:
    case Label::kCheckpoint:
    case Label::kKernel:
    case Label::kOtherCall: return Cause::kDataTransformCpu;
    case Label::kImport:
    case Label::kWorkerStart: return Cause::kWorkerStartup;
    case Label::kSerialise:
    case Label::kTransfer:
    case Label::kChannel: return Cause::kDataSerialisation;
    case Label::kNames:
    case Label::kRead:
    case Label::kWrite:
    case Label::kSync: return Cause::kDataDevice;
    case Label::kPageFault: return Cause::kPageCacheMiss;
    case Label::kFileLock: return Cause::kDataLock;
    case Label::kPythonLock: return Cause::kPythonLock;
    case Label::kSleep:
    case Label::kTimer: return Cause::kTimer;
    case Label::kWait: return piece.state == State::kRemote ? Cause::kDataRemote : Cause::kNotFollowed;
    case Label::kWorkerEnd: return Cause::kLoaderEnd;
    // The threads wait for each other, perhaps through others: a hand-over for which one of them was not running yet.
    case Label::kIdle: return Cause::kDataSerialisation;
    case Label::kAsleep: return Cause::kNotFollowed;
  }
  return Cause::kNotFollowed;
}

Cause cause_of(const Context& context, const Divided& piece) {
  switch (piece.activity) {
    case Activity::kStartup: return Cause::kNone;
    case Activity::kEnd:
      return piece.label == Label::kWorkerEnd || piece.top == blame::Top::kWaiting || piece.top == blame::Top::kChild
                 ? Cause::kLoaderEnd
                 : Cause::kNone;
    case Activity::kWait: return cause_of_wait(context, piece);
    case Activity::kReceive: return Cause::kDataSerialisation;
    case Activity::kLoader:
      if (piece.label == Label::kPageFault) return Cause::kPageCacheMiss;
      return piece.for_workers ? Cause::kWorkerStartup : Cause::kDataInDriver;
    case Activity::kPythonLock: return Cause::kPythonLock;
    case Activity::kCheckpoint: return Cause::kCheckpoint;
    case Activity::kLogging: return Cause::kLogging;
    case Activity::kFiles:
      if (piece.label == Label::kWrite || piece.label == Label::kSync) return Cause::kCheckpoint;
      return Cause::kDataInDriver;
    case Activity::kCompute: break;
  }
  if (piece.label == Label::kSleep) return Cause::kTimer;
  if (piece.hops > 0) return cause_of_wait(context, piece);  // the driver waited for a command that it ran
  if (piece.away_file_id != 0) return Cause::kRemoteCall;
  if (piece.label == Label::kPageFault) return Cause::kPageCacheMiss;
  if (piece.label == Label::kOtherCall || piece.label == Label::kKernel) return Cause::kAllocation;
  return piece.state == State::kRunQueue ? Cause::kOversubscription : Cause::kComputeBound;
}

// Synced appends of the driver are a log if only few bytes are written between two syncs, else a checkpoint.
bool writes_a_log(const Context& context) {
  const auto& savings = context.timeline().savings;
  const auto found = savings.find(context.analysis.division.driver);
  if (found == savings.end()) return false;
  int64_t syncs = 0, bytes = 0, big = 0;
  for (const blame::Saving& saving : found->second) {
    if (saving.is_log()) {
      syncs += saving.syncs;
      bytes += saving.bytes;
    } else if (saving.syncs > 0) {
      big += saving.syncs;
    }
  }
  return syncs > big && bytes > 0;
}

void sum_up(Context& context) {
  const auto& pieces = context.analysis.division.pieces;
  context.ns = {};
  for (auto& one : context.lines) one.clear();
  for (auto& one : context.threads) one.clear();
  for (auto& one : context.labels) one.clear();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto cause = static_cast<size_t>(context.causes[i]);
    const double ns = pieces[i].ns();
    context.ns[cause] += ns;
    if (pieces[i].line >= 0) context.lines[cause][pieces[i].line] += ns;
    context.threads[cause][pieces[i].thread_id] += ns;
    context.labels[cause][pieces[i].label] += ns;
  }
}

template <typename Key>
Key most_of(const std::map<Key, double>& all, Key none) {
  const auto most =
      std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == all.end() ? none : most->first;
}

// Sets the cause of time in files by what the use of the files shows.
void settle_files(Context& context, const std::string& folder) {
  double files_ns = 0;
  std::array<double, std::size(summary::kStateNames)> states{};
  std::unordered_set<int32_t> threads;
  const auto& pieces = context.analysis.division.pieces;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Divided& piece = pieces[i];
    if (piece.activity != Activity::kWait && piece.activity != Activity::kLoader && piece.activity != Activity::kFiles)
      continue;
    threads.insert(piece.thread_id);
    if (context.causes[i] != Cause::kDataDevice) continue;
    files_ns += piece.ns();
    states[static_cast<size_t>(piece.state)] += piece.ns();
  }
  for (const int32_t thread : threads) {
    if (thread != 0) context.use.add(context.timeline().thread(thread).files);
  }
  find_reread(context, folder);
  const auto spent_ns = [&](State state) { return states[static_cast<size_t>(state)]; };
  const double counted_ns = files_ns - spent_ns(State::kUnknown);
  FileShares shares;
  if (files_ns > 0) shares.remote = spent_ns(State::kRemote) / files_ns;
  if (counted_ns > 0.5 * files_ns && counted_ns > 0) {
    shares.device = spent_ns(State::kDevice) / counted_ns;
    shares.cpu = (spent_ns(State::kOnCpu) + spent_ns(State::kRunQueue)) / counted_ns;
  }
  decide_files(context, shares);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool is_of_it = context.files != Cause::kDataTransformCpu || pieces[i].label == Label::kRead;
    if (context.causes[i] == Cause::kDataDevice && is_of_it) context.causes[i] = context.files;
  }
}

// If the workers take turns at a lock, the driver's waiting for their work gets the lock as its cause.
void settle_lock(Context& context) {
  constexpr double kMost = 0.4;  // median share of the driver's waiting in which a worker waits for another at a lock
  if (context.locked < kMost) return;
  context.held_lock = true;
  for (size_t i = 0; i < context.causes.size(); ++i) {
    const Cause cause = context.causes[i];
    const bool keeps = cause == Cause::kWorkerStartup || cause == Cause::kDataSerialisation ||
                       cause == Cause::kNotFollowed || cause == Cause::kPythonLock;
    if (context.analysis.division.pieces[i].activity == Activity::kWait && !keeps) context.causes[i] = Cause::kDataLock;
  }
}

// If one worker is slow, the driver's waiting for work of workers gets the slow worker as its cause.
void settle_slow_worker(Context& context) {
  if (context.slow_worker == 0) return;
  std::map<Cause, double> ns;
  for (size_t i = 0; i < context.causes.size(); ++i) {
    const Cause cause = context.causes[i];
    const bool keeps =
        cause == Cause::kWorkerStartup || cause == Cause::kDataSerialisation || cause == Cause::kNotFollowed;
    if (context.analysis.division.pieces[i].activity != Activity::kWait || keeps) continue;
    ns[cause] += context.analysis.division.pieces[i].ns();
    context.causes[i] = Cause::kDataSlowWorker;
  }
  context.slow_for = most_of(ns, Cause::kNone);
}

}  // namespace

std::string Context::top_line(Cause cause) const {
  return analysis.lines.text(most_of<int32_t>(lines[static_cast<size_t>(cause)], blame::kNoLine));
}

int32_t Context::top_thread(Cause cause) const { return most_of<int32_t>(threads[static_cast<size_t>(cause)], 0); }

std::string Context::name_of(int32_t thread_id) const {
  const blame::Thread& thread = timeline().thread(thread_id);
  const blame::Process& process = timeline().process(thread.proc_id);
  std::string role = process.role.empty() ? "process" : process.role;
  if (role == "child" && !process.command.empty()) {
    role = process.command.substr(0, process.command.find(' '));
    role = role.substr(role.rfind('/') + 1);
  }
  if (is_other_rank(*this, thread_id) && !role.starts_with("rank")) role = "the rank in process";
  if (process.main == thread_id) return fmt::format("{} ({})", role, process.pid);
  return fmt::format("thread {} ({}) of {} ({})", thread.comm.empty() ? "?" : thread.comm, thread.tid, role,
                     process.pid);
}

Context make_context(const blame::Analysis& analysis, const std::string& folder, const Machine& machine) {
  Context context(analysis, machine);
  const auto& pieces = analysis.division.pieces;
  context.causes.reserve(pieces.size());
  for (const Divided& piece : pieces) {
    context.causes.push_back(cause_of(context, piece));
    const bool asks_server = piece.away_file_id != 0;
    if (piece.activity == Activity::kCompute && piece.hops == 0 && !asks_server && piece.state != State::kRunQueue)
      context.compute_ns += piece.ns();
  }
  find_workers(context);
  settle_fresh_workers(context);
  settle_files(context, folder);
  settle_slow_worker(context);
  settle_lock(context);
  if (writes_a_log(context)) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (context.causes[i] == Cause::kCheckpoint && pieces[i].activity == Activity::kFiles)
        context.causes[i] = Cause::kLogging;
    }
  }
  sum_up(context);
  return context;
}

}  // namespace mlrun::findings
