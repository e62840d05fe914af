// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_events.h"

#include <algorithm>
#include <unordered_map>

#include "runner/blame/driver.h"

namespace mlrun::blame {

namespace {

using Kind = StepSource::Kind;

class Collector {
 public:
  Collector(const Timeline& timeline, const Division& division, WaitEnds& ends, Ns from_ns, Ns to_ns)
      : timeline_(timeline), division_(division), ends_(ends), from_ns_(from_ns), to_ns_(to_ns) {}

  std::map<std::string, StepSource> all() {
    add_files();
    add_waits();
    add_takes();
    add_tasks();
    for (auto& [name, source] : sources_) {
      std::sort(source.events.begin(), source.events.end(),
                [](const StepEvent& a, const StepEvent& b) { return a.start_ns < b.start_ns; });
    }
    find_ranks();
    return std::move(sources_);
  }

 private:
  [[nodiscard]] const Thread& driver() const { return timeline_.thread(division_.driver); }
  [[nodiscard]] bool is_inside(Ns start_ns, Ns end_ns) const { return end_ns > from_ns_ && start_ns < to_ns_; }
  void add(const std::string& name, Kind kind, const StepEvent& event) {
    StepSource& source = sources_[name];
    source.kind = kind;
    if (event.made_by != 0) source.comm = timeline_.thread(event.made_by).comm;
    source.events.push_back(event);
    source.waited_ns += event.waited_ns;
  }
  // Name of the source for threads of the driver's process.
  [[nodiscard]] std::string name_of(int32_t thread_id) const { return "thread " + timeline_.thread(thread_id).comm; }

  [[nodiscard]] Ns life(int32_t thread_id) const {
    return timeline_.thread(thread_id).last_ns - timeline_.thread(thread_id).first_ns;
  }
  [[nodiscard]] Ns end_of_reads(const Wait& wait) const;
  void add_files();
  void add_waits();
  void add_takes();
  void add_tasks();
  void find_ranks();

  const Timeline& timeline_;
  const Division& division_;
  WaitEnds& ends_;
  Ns from_ns_, to_ns_;
  std::map<std::string, StepSource> sources_;
};

// Adds the driver's own calls on data files, except those of checkpoints and logs.
void Collector::add_files() {
  auto saving = division_.savings.begin();
  for (const CallBins::Bin& bin : driver().calls.bins()) {
    if ((bin.data_opens == 0 && bin.data_bytes == 0) || !is_inside(bin.start_ns, bin.end_ns)) continue;
    while (saving != division_.savings.end() && saving->second <= bin.start_ns) ++saving;
    if (saving != division_.savings.end() && saving->first < bin.end_ns) continue;
    add("files", Kind::kFiles,
        {bin.start_ns, bin.end_ns, 0, 0, static_cast<double>(bin.data_opens), static_cast<double>(bin.data_bytes), 0});
  }
}

// The driver reads at once what it waited for: such reads belong to the event.
Ns Collector::end_of_reads(const Wait& wait) const {
  constexpr Ns kSoonNs = 1'000'000;
  const auto& reads = driver().reads;
  Ns end_ns = wait.end_ns;
  auto read =
      std::partition_point(reads.begin(), reads.end(), [&](const Read& one) { return one.start_ns < wait.start_ns; });
  for (; read != reads.end() && read->start_ns - end_ns < kSoonNs; ++read) end_ns = std::max(end_ns, read->end_ns);
  return end_ns;
}

void Collector::add_waits() {
  const Thread& thread = driver();
  for (size_t i = thread.first_wait(from_ns_); i < thread.waits.size() && thread.waits[i].start_ns < to_ns_; ++i) {
    const Wait& wait = thread.waits[i];
    const bool on_channel = wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kChannelRead;
    const bool joins = wait.kind == WaitKind::kChild && wait.joins_thread;
    if (!on_channel && !joins && wait.kind != WaitKind::kLock) continue;
    if (timeline_.is_python_lock(thread.proc_id, wait)) continue;
    const auto& who = ends_.find(division_.driver, wait, true).threads;
    StepEvent event{wait.start_ns, on_channel ? end_of_reads(wait) : wait.end_ns, wait.dur_ns()};
    event.made_by = who.empty() ? 0 : who.front();
    if (joins) {
      // A thread that is joined for each batch; not one that ends with the loop or with the process.
      if (!who.empty() && 2 * life(who.front()) < to_ns_ - from_ns_) add("threads that end", Kind::kThreads, event);
    } else if (!who.empty() && timeline_.thread(who.front()).proc_id == thread.proc_id) {
      add(name_of(who.front()), Kind::kThreads, event);
    } else if (on_channel) {
      add("channel", Kind::kChannel, event);
    }
  }
}

// Adds waits of other threads that the driver ended: it took a batch from such a thread, or asked it for more.
void Collector::add_takes() {
  constexpr Ns kEndsNs = 5'000'000;
  for (const int32_t other : timeline_.process(driver().proc_id).threads) {
    if (other == division_.driver) continue;
    const Thread& thread = timeline_.thread(other);
    for (size_t i = thread.first_wait(from_ns_); i < thread.waits.size() && thread.waits[i].end_ns < to_ns_; ++i) {
      const Wait& wait = thread.waits[i];
      const bool by_driver = wait.kind == WaitKind::kLock && wait.poster == division_.driver;
      if (!by_driver || timeline_.is_python_lock(thread.proc_id, wait)) continue;
      StepEvent event{wait.end_ns, wait.end_ns, 0, wait.start_ns};
      event.ends = thread.last_ns - wait.end_ns < kEndsNs;
      add(name_of(other), Kind::kThreads, event);
    }
  }
}

// Adds the driver's messages to other threads of its process, such as asyncio sends to wake a loop in another thread. A message that ends the thread
// is no task.
void Collector::add_tasks() {
  constexpr Ns kEndsNs = 20'000'000;
  std::unordered_map<int64_t, int32_t> readers;
  for (const int32_t other : timeline_.process(driver().proc_id).threads) {
    if (other == division_.driver) continue;
    for (const Read& read : timeline_.thread(other).reads) readers.emplace(read.file_id, other);
  }
  for (const auto& [file_id, messages] : timeline_.messages) {
    auto reader = readers.find(file_id);
    if (reader == readers.end()) reader = readers.find(timeline_.peer(file_id));
    if (reader == readers.end() || reader->first == 0) continue;
    for (const Message& message : messages) {
      if (message.thread_id != division_.driver || !is_inside(message.start_ns, message.end_ns)) continue;
      if (timeline_.thread(reader->second).last_ns - message.end_ns < kEndsNs) continue;
      StepEvent event{message.start_ns, message.end_ns};
      event.asks = 1;
      add(name_of(reader->second), Kind::kThreads, event);
    }
  }
}

// Finds threads that only pass on other ranks' messages. A wait for such a thread is a collective operation, which ends a step instead of beginning
// one.
void Collector::find_ranks() {
  std::map<std::string, std::pair<double, double>> ns;  // time of waiting for other ranks, for anything else
  for (const Divided& piece : division_.pieces) {
    if (piece.activity != summary::Activity::kWait || piece.first_thread == 0) continue;
    if (timeline_.thread(piece.first_thread).proc_id != driver().proc_id) continue;
    auto& [ranks, others] = ns[name_of(piece.first_thread)];
    const bool is_for_rank = is_of_other_rank(timeline_, division_.driver, piece.thread_id) ||
                             is_for_ranks_elsewhere(timeline_, division_.driver, piece);
    (is_for_rank ? ranks : others) += piece.ns();
  }
  for (auto& [name, source] : sources_) {
    const auto found = ns.find(name);
    if (found != ns.end() && found->second.first > found->second.second) source.kind = Kind::kRanks;
    if (source.kind != Kind::kRanks) continue;
    for (const auto& [file_id, messages] : timeline_.messages) {
      if (timeline_.kind(file_id) != model::FileKind::kSocket) continue;
      for (const Message& message : messages) {
        const bool sends = timeline_.thread(message.thread_id).proc_id == driver().proc_id;
        if (sends && is_inside(message.start_ns, message.end_ns))
          source.sent.emplace_back(message.start_ns, static_cast<double>(message.bytes));
      }
    }
    std::sort(source.sent.begin(), source.sent.end());
  }
}

}  // namespace

void StepEvent::add(const StepEvent& then) {
  end_ns = std::max(end_ns, then.end_ns);
  waited_ns += then.waited_ns;
  if (blocked_ns == 0) blocked_ns = then.blocked_ns;
  if (made_by == 0) made_by = then.made_by;
  ends |= then.ends;
  opens += then.opens;
  asks += then.asks;
  bytes += then.bytes;
}

Ns earliest_step(const Timeline& timeline, const Division& division) {
  const Batches& batches = division.batches;
  const auto imports = timeline.module_calls.find(division.driver);
  Ns from_ns = timeline.start_ns;
  if (imports == timeline.module_calls.end()) return from_ns;
  for (const auto& [start_ns, end_ns] : imports->second) {
    if (batches.first_ns != 0 && end_ns > batches.first_ns) break;
    from_ns = end_ns;
  }
  return from_ns;
}

std::map<std::string, StepSource> step_sources(const Timeline& timeline, const Division& division, WaitEnds& ends,
                                               Ns from_ns, Ns to_ns) {
  return Collector(timeline, division, ends, from_ns, to_ns).all();
}

}  // namespace mlrun::blame
