// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/chain.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

namespace mlrun::blame {

namespace {

using summary::State;

constexpr uint8_t kHopsMost = 6;
constexpr double kWeightMin = 1.0 / 64;  // smallest weight of one of several threads that share a stretch
constexpr Ns kSampleNearNs = 30'000'000;

bool contains(const std::vector<int32_t>& all, int32_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Whether the chain has been at one of the threads before.
bool comes_back(const std::vector<int32_t>& seen, const std::vector<int32_t>& who) {
  return std::any_of(who.begin(), who.end(), [&](int32_t one) { return contains(seen, one); });
}

// The weight of each of the threads, which share the stretch; 0: there are none.
double weight_of(double weight, const std::vector<int32_t>& who) {
  return who.empty() ? 0 : weight / static_cast<double>(who.size());
}

}  // namespace

Chain::Chain(const Timeline& timeline, WaitEnds& ends, StackKinds& kinds, Lines& lines)
    : timeline_(timeline), ends_(ends), kinds_(kinds), lines_(lines) {
  sends_.resize(timeline.threads.size());
  for (const auto& [file_id, list] : timeline.messages) {
    for (const Message& message : list) sends_[static_cast<size_t>(message.thread_id)] = 1;
  }
  find_ready();
}

bool Chain::is_command(int32_t driver, int32_t thread_id) const {
  constexpr Ns kShareOfRun = 10;
  const Process& process = timeline_.process_of(thread_id);
  return process.parent != 0 && process.parent == timeline_.thread(driver).proc_id && !process.forked &&
         !is_worker(process.proc_id) &&
         kShareOfRun * (process.last_ns - process.first_ns) < timeline_.end_ns - timeline_.start_ns;
}

bool Chain::is_worker(int32_t proc_id) const {
  const Process& process = timeline_.process(proc_id);
  if (process.parent == 0 || process.is_helper()) return false;
  return process.role.find("worker") != std::string::npos || process.forked ||
         process.command.find("multiprocessing") != std::string::npos;
}

// A worker is ready when it first reads its task channel: the one that it reads most often.
void Chain::find_ready() {
  ready_ns_.resize(timeline_.processes.size());
  for (const Process& process : timeline_.processes) {
    if (process.main == 0) continue;
    std::unordered_map<int64_t, std::pair<int64_t, Ns>> channels;  // number of reads, end of the first one
    for (const Read& read : timeline_.thread(process.main).reads) {
      if (read.bytes <= 0) continue;
      auto& [count, first_ns] = channels[read.file_id];
      if (count++ == 0) first_ns = read.end_ns;
    }
    std::pair<int64_t, Ns> most{};
    for (const auto& [file_id, use] : channels) {
      if (use.first > most.first || (use.first == most.first && use.second < most.second)) most = use;
    }
    ready_ns_[static_cast<size_t>(process.proc_id)] = most.second;
  }
}

bool Chain::sends(int32_t thread_id) const { return sends_[static_cast<size_t>(thread_id)] != 0; }

void Chain::put(const Path& path, Ns a_ns, Ns b_ns, Label label, int32_t thread_id, int32_t line, State state) {
  if (b_ns <= a_ns) return;
  path.pieces->push_back({.start_ns = a_ns,
                          .end_ns = b_ns,
                          .weight = path.weight,
                          .top = path.top,
                          .label = label,
                          .state = state,
                          .link = path.link,
                          .hops = path.hops,
                          .thread_id = thread_id,
                          .line = line,
                          .file_id = path.file_id,
                          .argument = path.argument,
                          .first_thread = path.seen.size() > 1 ? path.seen[1] : thread_id});
}

int32_t Chain::line_near(int32_t thread_id, Ns moment_ns) {
  const StackSample* sample = ends_.sample_near(thread_id, moment_ns, kSampleNearNs);
  return sample == nullptr ? kNoLine : lines_.number(kinds_.line(sample->stack_id));
}

StackKind Chain::kind_near(int32_t thread_id, Ns moment_ns) {
  const StackSample* sample = ends_.sample_near(thread_id, moment_ns, kSampleNearNs);
  return sample == nullptr ? StackKind::kOwn : kinds_.kind(sample->stack_id);
}

bool Chain::makes_near(int32_t thread_id, Ns moment_ns) {
  const StackSample* sample = ends_.sample_near(thread_id, moment_ns, kSampleNearNs);
  return sample != nullptr && kinds_.makes(sample->stack_id);
}

int32_t Chain::line_of_holder(int32_t proc_id, int32_t thread_id, Ns moment_ns) {
  for (const int32_t other : timeline_.process(proc_id).threads) {
    if (other == thread_id) continue;
    const StackSample* sample = ends_.sample_near(other, moment_ns, kSampleNearNs);
    if (sample != nullptr && sample->running == 1) return lines_.number(kinds_.line(sample->stack_id));
  }
  return kNoLine;
}

void Chain::own(int32_t driver, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces) {
  leaf(driver, a_ns, b_ns, {.pieces = &pieces});
}

void Chain::wait(int32_t driver, const Wait& wait, Ns a_ns, Ns b_ns, Top top, std::vector<Piece>& pieces) {
  Path path{.pieces = &pieces, .top = top};
  path.file_id = wait.file_id;
  if (const Read* read = ends_.read_after(driver, wait); read != nullptr && path.file_id == 0)
    path.file_id = read->file_id;
  path.argument = wait.kind == WaitKind::kLock ? wait.argument : 0;
  in_wait(driver, wait, a_ns, b_ns, path);
}

void Chain::follow(int32_t thread_id, Ns a_ns, Ns b_ns, std::vector<Piece>& pieces) {
  Path path{.pieces = &pieces, .top = Top::kWaiting};
  path.hops = 1;
  stretch(thread_id, a_ns, b_ns, path);
}

// A wait may begin before the thread that ends it exists. Until then its creator is followed: for a process's main thread the main thread of the
// parent (a shell that runs programs in turn), for another thread the main thread of its process (a queue starts its sending thread at the first
// put). Returns the time from which `thread_id` itself is followed.
Ns Chain::before_it_ran(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path) {
  const Process& process = timeline_.process_of(thread_id);
  const bool is_main = process.main == thread_id;
  const int32_t maker = is_main ? timeline_.process(process.parent).main : process.main;
  const Ns born_ns = std::min(b_ns, is_main ? process.first_ns : timeline_.thread(thread_id).first_ns);
  if (born_ns <= a_ns || path.hops == 0 || path.hops >= kHopsMost || maker == 0 || contains(path.seen, maker) ||
      (is_main && (process.forked || is_worker(process.proc_id))))
    return a_ns;
  Path before = path;
  ++before.hops;
  before.seen.push_back(thread_id);
  stretch(maker, a_ns, born_ns, before);
  return born_ns;
}

void Chain::stretch(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path) {
  const Thread& thread = timeline_.thread(thread_id);
  Ns at_ns = before_it_ran(thread_id, a_ns, b_ns, path);
  for (size_t i = thread.first_wait(at_ns); at_ns < b_ns; ++i) {
    const Wait* wait = i < thread.waits.size() ? &thread.waits[i] : nullptr;
    if (wait == nullptr || wait->start_ns >= b_ns) return leaf(thread_id, at_ns, b_ns, path);
    if (wait->start_ns > at_ns) leaf(thread_id, at_ns, wait->start_ns, path);
    at_ns = std::max(at_ns, wait->start_ns);
    const Ns end_ns = std::min(b_ns, wait->end_ns);
    in_wait(thread_id, *wait, at_ns, end_ns, path);
    at_ns = std::max(at_ns, end_ns);
  }
}

// A wait for Python's lock is followed to the threads that hold it, if they are known. The driver's own wait only gets the label kPythonLock.
bool Chain::in_python_lock(int32_t thread_id, const Wait& wait, Ns a_ns, Ns b_ns, const Path& path) {
  const int32_t proc_id = timeline_.thread(thread_id).proc_id;
  if (!timeline_.is_python_lock(proc_id, wait)) return false;
  const Ns middle_ns = a_ns + (b_ns - a_ns) / 2;
  std::vector<int32_t> who;
  if (path.hops > 0 && path.hops < kHopsMost) who = ends_.holders(proc_id, thread_id, middle_ns);
  if (comes_back(path.seen, who) || weight_of(path.weight, who) < kWeightMin) {
    put(path, a_ns, b_ns, Label::kPythonLock, thread_id, line_of_holder(proc_id, thread_id, middle_ns),
        State::kBlocked);
    return true;
  }
  follow_all(who, Link::kPythonLock, thread_id, a_ns, b_ns, path);
  return true;
}

// A sleep of the driver in code that loads data counts as loading; its label stays kSleep.
void Chain::sleep(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path) {
  const Ns middle_ns = a_ns + (b_ns - a_ns) / 2;
  put(path, a_ns, b_ns, Label::kSleep, thread_id, line_near(thread_id, middle_ns), State::kBlocked);
  if (path.hops == 0 && kind_near(thread_id, middle_ns) == StackKind::kLoader) path.pieces->back().by_loader = true;
}

// Continues the chain at the threads that ended a wait of thread_id.
void Chain::follow_all(const std::vector<int32_t>& who, Link link, int32_t thread_id, Ns a_ns, Ns b_ns,
                       const Path& path) {
  Path next = path;
  next.link = link;
  ++next.hops;
  next.weight = weight_of(path.weight, who);
  next.seen.push_back(thread_id);
  for (const int32_t one : who) stretch(one, a_ns, b_ns, next);
}

void Chain::in_wait(int32_t thread_id, const Wait& wait, Ns a_ns, Ns b_ns, const Path& path) {
  if (b_ns <= a_ns) return;
  const int32_t proc_id = timeline_.thread(thread_id).proc_id;
  const auto put_as = [&](Label label, State state = State::kBlocked) {
    put(path, a_ns, b_ns, label, thread_id, kNoLine, state);
  };
  if (path.hops > 0 && is_worker(proc_id) && a_ns < ready_ns(proc_id)) return put_as(Label::kWorkerStart);
  if (in_python_lock(thread_id, wait, a_ns, b_ns, path)) return;
  // If the driver polls with sleeps, it waits for what other threads make.
  const bool asks = path.hops == 0 && path.top == Top::kWaiting;
  if (wait.kind == WaitKind::kSleep && !asks) return sleep(thread_id, a_ns, b_ns, path);
  if (wait.kind == WaitKind::kFileLock || ends_.is_shared_lock(thread_id, wait)) return put_as(Label::kFileLock);
  if (wait.kind == WaitKind::kConnection) {
    // Between processes of the run, a connection hands over batches, and one end waits until the other one is ready.
    const bool away = !wait.accepts && timeline_.peer(wait.file_id) == 0;
    return put_as(away ? Label::kWait : Label::kTransfer, away ? State::kRemote : State::kBlocked);
  }
  if (wait.kind == WaitKind::kChannelWrite) {
    // standard output or error: a pipe whose reader is too slow
    const bool prints = path.hops == 0 && (wait.fd == STDOUT_FILENO || wait.fd == STDERR_FILENO);
    return put_as(prints ? Label::kLogging : Label::kTransfer);
  }
  const Wait& last = ends_.last_of(thread_id, wait);
  if (last.kind == WaitKind::kPoll && last.ret == 0) return put_as(Label::kTimer);
  const Ender& ender = ends_.find(thread_id, wait, path.hops == 0);
  if (ender.link == Link::kEnds) {
    Path at_end = path;
    at_end.link = Link::kEnds;
    return put(at_end, a_ns, b_ns, Label::kWorkerEnd, ender.threads.empty() ? thread_id : ender.threads[0], kNoLine,
               State::kBlocked);
  }
  const auto& who = ender.threads;
  if (who.empty() && last.joins_thread) return put_as(Label::kWorkerEnd);  // the thread ended before it was joined
  if (comes_back(path.seen, who)) return put_as(Label::kIdle);
  if (path.hops >= kHopsMost || weight_of(path.weight, who) < kWeightMin) {
    const int64_t away = who.empty() ? away_socket(thread_id, last) : 0;
    put_as(Label::kWait, away != 0 ? State::kRemote : State::kBlocked);
    path.pieces->back().away_file_id = away;
    return;
  }
  follow_all(who, ender.link, thread_id, a_ns, b_ns, path);
}

// The socket on which the thread waits, if no recorded process has its other end; else 0.
int64_t Chain::away_socket(int32_t thread_id, const Wait& wait) const {
  const Read* read = ends_.read_after(thread_id, wait);
  const int64_t file_id = read != nullptr ? read->file_id : wait.file_id;
  return timeline_.kind(file_id) == model::FileKind::kSocket && timeline_.peer(file_id) == 0 ? file_id : 0;
}

// Samples outside of calls in the stretch, each with the time up to half-way to its neighbours.
std::vector<Chain::PartOfSample> Chain::samples_in(const Thread& thread, Ns a_ns, Ns b_ns) const {
  std::vector<const StackSample*> inside;
  for (size_t i = thread.first_sample(a_ns); i < thread.samples.size() && thread.samples[i].start_ns < b_ns; ++i) {
    if (!thread.samples[i].in_call) inside.push_back(&thread.samples[i]);
  }
  std::vector<PartOfSample> parts;
  Ns at_ns = a_ns;
  for (size_t i = 0; i < inside.size(); ++i) {
    const Ns to_ns =
        i + 1 == inside.size() ? b_ns : inside[i]->start_ns + (inside[i + 1]->start_ns - inside[i]->start_ns) / 2;
    parts.push_back({inside[i], to_ns - at_ns});
    at_ns = to_ns;
  }
  return parts;
}

Label Chain::label_of(const StackSample& sample, const Path& path) {
  if (sample.running == 0) return Label::kAsleep;  // asleep, in no recorded call
  if (path.hops > 0 && kinds_.is_on_names(sample.stack_id)) return Label::kNames;
  switch (kinds_.kind(sample.stack_id)) {
    case StackKind::kImport: return Label::kImport;
    case StackKind::kPickle: return Label::kSerialise;
    // A worker does nothing but loading: its checkpoint, loader and logging code is computing.
    case StackKind::kCheckpoint: return path.hops > 0 ? Label::kCpu : Label::kCheckpoint;
    case StackKind::kLoader: return path.hops > 0 ? Label::kCpu : Label::kLoader;
    case StackKind::kLogging: return path.hops > 0 ? Label::kCpu : Label::kLogging;
    case StackKind::kOwn: return Label::kCpu;
  }
  return Label::kCpu;
}

// Share of the calls in a stretch that loader code made, from samples inside these calls, else from the nearest sample inside a call. A sample
// outside of calls cannot show which code made them.
double Chain::share_of_loader(int32_t thread_id, Ns a_ns, Ns b_ns) {
  constexpr Ns kNearNs = 500'000'000;
  const Thread& thread = timeline_.thread(thread_id);
  size_t in_calls = 0, loads = 0;
  std::pair<Ns, bool> nearest{kNearNs, false};
  bool has_near = false;
  for (size_t i = thread.first_sample(a_ns - kNearNs);
       i < thread.samples.size() && thread.samples[i].start_ns < b_ns + kNearNs; ++i) {
    const StackSample& sample = thread.samples[i];
    if (!sample.in_call) continue;
    const bool is_loader = kinds_.kind(sample.stack_id) == StackKind::kLoader;
    if (sample.start_ns >= a_ns && sample.start_ns < b_ns) {
      ++in_calls;
      loads += is_loader ? 1 : 0;
    }
    const Ns away_ns = sample.start_ns < a_ns ? a_ns - sample.start_ns : sample.start_ns - b_ns;
    if (away_ns < nearest.first) {
      nearest = {away_ns, is_loader};
      has_near = true;
    }
  }
  if (in_calls != 0) return static_cast<double>(loads) / static_cast<double>(in_calls);
  return has_near ? (nearest.second ? 1 : 0) : share_of_loader(thread_id);
}

// For a stretch without a sample: the same share over all samples of the thread in calls.
double Chain::share_of_loader(int32_t thread_id) {
  const auto [known, is_new] = loader_share_.try_emplace(thread_id, 0);
  if (!is_new) return known->second;
  size_t in_calls = 0, loads = 0;
  for (const StackSample& sample : timeline_.thread(thread_id).samples) {
    in_calls += sample.in_call ? 1 : 0;
    loads += sample.in_call && kinds_.kind(sample.stack_id) == StackKind::kLoader ? 1 : 0;
  }
  known->second = in_calls == 0 ? 0 : static_cast<double>(loads) / static_cast<double>(in_calls);
  return known->second;
}

// Adds pieces for the calls in a stretch; returns where these pieces end.
Ns Chain::put_calls(int32_t thread_id, Ns a_ns, Ns b_ns, const CallSums& sums, const Path& path) {
  static constexpr Label kLabels[kCallGroups] = {Label::kNames, Label::kRead,    Label::kWrite,
                                                 Label::kSync,  Label::kChannel, Label::kOtherCall};
  static constexpr State kStates[kCallStates] = {State::kRunQueue, State::kDevice, State::kRemote, State::kBlocked};
  const double total_ns = sums.total_ns();
  if (total_ns <= 0) return a_ns;
  double elsewhere_ns = 0;
  for (const double ns : sums.state_ns) elsewhere_ns += ns;
  const double scale = elsewhere_ns > total_ns ? total_ns / elsewhere_ns : 1;
  // Without kernel tables, sleep in a call on a file is taken as waiting for its device.
  const UsageShares usage = usage_in(timeline_.thread(thread_id), a_ns, b_ns);
  const bool counted = !timeline_.has_kernel_side && usage.known > 0;
  const double asleep = counted ? usage.calls_asleep / usage.known : 0;
  const State rest = timeline_.has_kernel_side || counted ? State::kOnCpu : State::kUnknown;
  const double by_loader =
      path.hops == 0 && !timeline_.thread(thread_id).samples.empty() ? share_of_loader(thread_id, a_ns, b_ns) : 0;
  double at = static_cast<double>(a_ns);
  const auto add = [&](Label label, double ns, State state, bool loads) {
    const Ns from_ns = static_cast<Ns>(at);
    at = std::min(at + ns, static_cast<double>(b_ns));
    put(path, from_ns, static_cast<Ns>(at), label, thread_id, kNoLine, state);
    if (static_cast<Ns>(at) > from_ns) path.pieces->back().by_loader = loads;
  };
  for (size_t group = 0; group < kCallGroups; ++group) {
    const double part = sums.group_ns[group] / total_ns;
    if (part <= 0) continue;
    double rest_ns = sums.group_ns[group];
    for (size_t state = 0; state < kCallStates; ++state) {
      const double ns = sums.state_ns[state] * scale * part;
      rest_ns -= ns;
      add(kLabels[group], ns * by_loader, kStates[state], true);
      add(kLabels[group], ns * (1 - by_loader), kStates[state], false);
    }
    const bool on_file = kLabels[group] != Label::kOtherCall && kLabels[group] != Label::kChannel;
    rest_ns = std::max(0.0, rest_ns);
    const double asleep_ns = on_file ? rest_ns * asleep : 0;
    for (const auto& [ns, state] :
         {std::pair{asleep_ns, State::kDevice}, std::pair{rest_ns - asleep_ns, on_file ? rest : State::kOnCpu}}) {
      add(kLabels[group], ns * by_loader, state, true);
      add(kLabels[group], ns * (1 - by_loader), state, false);
    }
  }
  return static_cast<Ns>(at);
}

Chain::UsageShares Chain::usage_in(const Thread& thread, Ns a_ns, Ns b_ns) {
  UsageShares shares;
  const auto whole_ns = static_cast<double>(b_ns - a_ns);
  auto row = std::partition_point(thread.usage.begin(), thread.usage.end(),
                                  [&](const Usage& one) { return one.end_ns <= a_ns; });
  for (; row != thread.usage.end() && row->start_ns < b_ns; ++row) {
    const double part = static_cast<double>(std::min(row->end_ns, b_ns) - std::max(row->start_ns, a_ns)) / whole_ns;
    shares.queued += part * row->queued;
    shares.faulting += part * row->faulting;
    shares.asleep += part * row->asleep;
    shares.in_kernel += part * row->in_kernel;
    if (row->calls_asleep < 0) continue;
    shares.calls_asleep += part * row->calls_asleep;
    shares.known += part;
  }
  return shares;
}

double Chain::share_in_kernel(int32_t thread_id, Ns a_ns, Ns b_ns) const {
  const UsageShares shares = usage_in(timeline_.thread(thread_id), a_ns, b_ns);
  const double on = 1 - shares.queued - shares.faulting;
  return on > 0 ? std::clamp(shares.in_kernel / on, 0.0, 1.0) : 0;
}

// How the time outside of calls divides, from the kernel tables if there are any, else from the scheduler's counts.
Chain::OffProcessor Chain::off_processor(const Thread& thread, Ns a_ns, Ns b_ns, double rest_ns) const {
  OffProcessor off;
  auto sleep = std::partition_point(thread.sleeps.begin(), thread.sleeps.end(),
                                    [&](const Sleep& one) { return one.end_ns <= a_ns; });
  for (; sleep != thread.sleeps.end() && sleep->start_ns < b_ns; ++sleep) {
    const auto inside = [&](Ns from_ns, Ns to_ns) {
      from_ns = std::max(from_ns, a_ns);
      to_ns = std::min(to_ns, b_ns);
      if (to_ns <= from_ns) return 0.0;
      return std::max(0.0, static_cast<double>(to_ns - from_ns) - thread.calls.sums(from_ns, to_ns).total_ns());
    };
    (sleep->for_device ? off.fault_ns : off.asleep_ns) += inside(sleep->start_ns, sleep->wake_ns);
    off.queued_ns += inside(sleep->wake_ns, sleep->end_ns);
  }
  const UsageShares shares = usage_in(thread, a_ns, b_ns);
  if (!timeline_.has_kernel_side) {
    off.queued_ns = shares.queued * rest_ns;
    off.fault_ns = shares.faulting * rest_ns;
    off.asleep_ns = shares.asleep * rest_ns;
  }
  off.knows_sleep = timeline_.has_kernel_side || shares.faulting > 0 || shares.asleep > 0;
  const double sum_ns = off.asleep_ns + off.queued_ns + off.fault_ns;
  if (sum_ns > rest_ns) {
    for (double* part : {&off.asleep_ns, &off.queued_ns, &off.fault_ns}) *part *= rest_ns / sum_ns;
  }
  const double on_ns = rest_ns - off.asleep_ns - off.queued_ns - off.fault_ns;
  if (on_ns > 0) off.in_kernel = std::clamp(shares.in_kernel * rest_ns / on_ns, 0.0, 1.0);
  return off;
}

bool Chain::mostly_loads(const std::vector<PartOfSample>& samples) {
  Ns all_ns = 0, loads_ns = 0;
  for (const PartOfSample& part : samples) {
    all_ns += part.ns;
    loads_ns += kinds_.kind(part.sample->stack_id) == StackKind::kLoader ? part.ns : 0;
  }
  return all_ns > 0 && 2 * loads_ns > all_ns;
}

// Divides the part of a stretch outside of calls by its samples.
void Chain::put_samples(int32_t thread_id, Ns a_ns, Ns b_ns, const std::vector<PartOfSample>& samples, State state,
                        const OffProcessor& off, const Path& path) {
  const Thread& thread = timeline_.thread(thread_id);
  if (samples.empty()) {
    // A followed thread that sends and is not its process's main thread (a queue's feeder thread) pickles.
    const bool hands_over = path.hops > 0 && thread_id != timeline_.process(thread.proc_id).main && sends(thread_id);
    const int32_t unseen = !thread.samples.empty() && !hands_over ? kUnseenLine : kNoLine;
    return put(path, a_ns, b_ns, hands_over ? Label::kSerialise : Label::kCpu, thread_id, unseen, state);
  }
  Ns all_ns = 0, done_ns = 0, from_ns = a_ns;
  for (const PartOfSample& part : samples) all_ns += part.ns;
  for (const PartOfSample& part : samples) {
    done_ns += part.ns;
    const double share = static_cast<double>(done_ns) / static_cast<double>(all_ns);
    const Ns to_ns = a_ns + static_cast<Ns>(static_cast<double>(b_ns - a_ns) * share);
    Label label = label_of(*part.sample, path);
    if (label == Label::kAsleep && (off.knows_sleep || state == State::kRunQueue)) label = Label::kCpu;
    const int32_t line = lines_.number(kinds_.line(part.sample->stack_id));
    // Only the driver's computing is split into user and kernel mode, not its unpickling or checkpoints.
    const bool splits = path.hops == 0 && label == Label::kCpu && state == State::kOnCpu;
    const Ns kernel_ns = splits ? static_cast<Ns>(static_cast<double>(to_ns - from_ns) * off.in_kernel) : 0;
    put(path, from_ns, to_ns - kernel_ns, label, thread_id, line, label == Label::kAsleep ? State::kBlocked : state);
    put(path, to_ns - kernel_ns, to_ns, Label::kKernel, thread_id, line, state);
    from_ns = to_ns;
  }
}

// Adds pieces for a stretch without a recorded wait. The order inside the stretch is unknown: calls come first, then the rest.
void Chain::leaf(int32_t thread_id, Ns a_ns, Ns b_ns, const Path& path) {
  const Thread& thread = timeline_.thread(thread_id);
  if (path.hops > 0 && is_worker(thread.proc_id) && a_ns < ready_ns(thread.proc_id)) {
    const Ns cut_ns = std::min(b_ns, ready_ns(thread.proc_id));
    put(path, a_ns, cut_ns, Label::kWorkerStart, thread_id, kNoLine, State::kOnCpu);
    a_ns = cut_ns;
  }
  if (a_ns >= b_ns) return;
  const CallSums sums = thread.calls.sums(a_ns, b_ns);
  const double rest_ns = static_cast<double>(b_ns - a_ns) - std::min(sums.total_ns(), static_cast<double>(b_ns - a_ns));
  const OffProcessor off = off_processor(thread, a_ns, b_ns, rest_ns);
  const std::vector<PartOfSample> samples = samples_in(thread, a_ns, b_ns);
  const int32_t line = samples.empty() ? kNoLine : lines_.number(kinds_.line(samples[0].sample->stack_id));
  const bool loads = path.hops == 0 && mostly_loads(samples);
  Ns at_ns = put_calls(thread_id, a_ns, b_ns, sums, path);
  const auto add = [&](Label label, double ns, State state) {
    const Ns to_ns = std::min(b_ns, at_ns + static_cast<Ns>(ns));
    if (to_ns <= at_ns) return;
    put(path, at_ns, to_ns, label, thread_id, line, state);
    path.pieces->back().by_loader = loads;
    at_ns = to_ns;
  };
  add(Label::kPageFault, off.fault_ns, State::kPageFault);
  add(Label::kAsleep, off.asleep_ns, State::kBlocked);
  const Ns queue_end_ns = std::min(b_ns, at_ns + static_cast<Ns>(off.queued_ns));
  put_samples(thread_id, at_ns, queue_end_ns, samples, State::kRunQueue, off, path);
  put_samples(thread_id, queue_end_ns, b_ns, samples, State::kOnCpu, off, path);
}

}  // namespace mlrun::blame
