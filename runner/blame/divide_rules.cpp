// SPDX-License-Identifier: Apache-2.0
// Rules for the driver's own time: which stretches receive, save or import; when batches arrived; which activity a piece has.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "runner/blame/divide.h"

namespace mlrun::blame {

namespace {

using summary::Activity;

constexpr int64_t kSavingBytes = 1 << 20;  // a file into which the driver writes at least this much is a checkpoint
constexpr int64_t kBigBytes = 65'536;
constexpr Ns kLateNs = 1'000'000'000;
// Least number of messages from senders that are no workers, or of waits at locks, that count as batches.
constexpr int64_t kOtherBatchesMin = 8;
constexpr size_t kLoaderSamples = 3;

bool is_pipe(const Timeline& timeline, int64_t file_id) {
  const model::FileKind kind = timeline.kind(file_id);
  return kind == model::FileKind::kPipe || kind == model::FileKind::kFifo;
}

std::vector<std::pair<Ns, Ns>> merged(std::vector<std::pair<Ns, Ns>> stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::vector<std::pair<Ns, Ns>> out;
  for (const auto& one : stretches) {
    if (!out.empty() && one.first <= out.back().second) {
      out.back().second = std::max(out.back().second, one.second);
    } else {
      out.push_back(one);
    }
  }
  return out;
}

bool is_checkpoint(const Saving& saving) { return !saving.is_log() && saving.bytes >= kSavingBytes; }

int64_t bytes_read(const Thread& thread, Ns a_ns, Ns b_ns) {
  int64_t bytes = 0;
  auto read = std::partition_point(thread.reads.begin(), thread.reads.end(),
                                   [&](const Read& one) { return one.start_ns < a_ns; });
  for (; read != thread.reads.end() && read->start_ns < b_ns; ++read) bytes += std::max<int64_t>(0, read->bytes);
  return bytes;
}

// The activity of the driver's own time that no other rule decides.
Activity activity_of_own(Label label) {
  switch (label) {
    case Label::kCheckpoint: return Activity::kCheckpoint;
    case Label::kLogging: return Activity::kLogging;
    case Label::kLoader: return Activity::kLoader;
    case Label::kSerialise:
    case Label::kChannel: return Activity::kReceive;
    case Label::kWrite:
    case Label::kSync:
    case Label::kNames:
    case Label::kRead: return Activity::kFiles;
    case Label::kCpu:
    case Label::kImport:
    case Label::kOtherCall:
    case Label::kWorkerStart:
    case Label::kWorkerEnd:
    case Label::kPythonLock:
    case Label::kSleep:
    case Label::kTimer:
    case Label::kFileLock:
    case Label::kTransfer:
    case Label::kIdle:
    case Label::kWait:
    case Label::kPageFault:
    case Label::kKernel:
    case Label::kAsleep: return Activity::kCompute;
  }
  return Activity::kCompute;
}

}  // namespace

// Without samples: the driver receives from the end of a wait for a message until its process sends the next task.
Divider::Stretches Divider::receiving(int32_t driver) const {
  const Thread& thread = timeline_.thread(driver);
  std::unordered_set<int64_t> read;
  for (const Read& one : thread.reads) read.insert(one.file_id);
  std::vector<Ns> sent;
  std::unordered_set<int32_t> feeders;
  for (const auto& [file_id, messages] : timeline_.messages) {
    if (read.contains(file_id) || !is_pipe(timeline_, file_id)) continue;
    for (const Message& message : messages) {
      if (message.thread_id == driver) sent.push_back(message.start_ns);
      if (message.thread_id != driver && timeline_.thread(message.thread_id).proc_id == thread.proc_id)
        feeders.insert(message.thread_id);
    }
  }
  // A feeder thread's wait ends when the driver puts a task into its queue.
  for (const int32_t feeder : feeders) {
    for (const Wait& wait : timeline_.thread(feeder).waits) {
      if (wait.kind == WaitKind::kLock && !timeline_.is_python_lock(thread.proc_id, wait)) sent.push_back(wait.end_ns);
    }
  }
  std::sort(sent.begin(), sent.end());
  std::vector<const Wait*> waits;
  for (const Wait& wait : thread.waits) {
    if (wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kChannelRead) waits.push_back(&wait);
  }
  Stretches stretches;
  for (size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = *waits[i];
    const auto next_put = std::lower_bound(sent.begin(), sent.end(), wait.end_ns);
    if (next_put == sent.end() || *next_put - wait.end_ns > kLateNs) continue;
    const size_t number = thread.first_wait(wait.end_ns);
    const Ns next_ns = number < thread.waits.size() ? std::max(wait.end_ns, thread.waits[number].start_ns) : INT64_MAX;
    if (*next_put < next_ns) {
      stretches.emplace_back(wait.end_ns, *next_put);
      continue;
    }
    // No task was sent before the next wait: the batch was kept for later. This is not so at the end of an epoch, where no task follows for many
    // waits.
    const auto waits_until = std::count_if(waits.begin() + static_cast<std::ptrdiff_t>(i) + 1, waits.end(),
                                           [&](const Wait* one) { return one->end_ns < *next_put; });
    const auto most = static_cast<std::ptrdiff_t>(2 * std::max<size_t>(2, feeders.size())) +
                      (wait.kind == WaitKind::kChannelRead ? 300 : 0);
    if (waits_until <= most && bytes_read(thread, wait.start_ns, next_ns) >= kBigBytes)
      stretches.emplace_back(wait.end_ns, next_ns);
  }
  return merged(std::move(stretches));
}

// Checkpoints: from opening to closing of files into which the driver writes a MiB or more. With `logs` instead: small synced writes, from the first
// write to each sync; if there is only one sync, from opening to closing.
Divider::Stretches Divider::savings(int32_t driver, bool logs) const {
  Stretches stretches;
  const auto found = timeline_.savings.find(driver);
  if (found == timeline_.savings.end()) return stretches;
  for (const Saving& saving : found->second) {
    const bool opened_for_it = saving.syncs == 1;
    if (!saving.is_log()) {
      if (is_checkpoint(saving) && !logs) stretches.emplace_back(saving.start_ns, saving.end_ns);
    } else if (logs && opened_for_it) {
      stretches.emplace_back(saving.start_ns, saving.end_ns);
    } else if (logs) {
      stretches.insert(stretches.end(), saving.bursts.begin(), saving.bursts.end());
    }
  }
  return merged(std::move(stretches));
}

Divider::Stretches Divider::savings(int32_t driver) const {
  Stretches both = savings(driver, false);
  const Stretches logs = savings(driver, true);
  both.insert(both.end(), logs.begin(), logs.end());
  return merged(std::move(both));
}

// Processes that send to the driver's process.
std::unordered_set<int32_t> Divider::feeding_processes(int32_t driver) const {
  std::unordered_set<int64_t> read;
  for (const int32_t thread : timeline_.process_of(driver).threads) {
    for (const Read& one : timeline_.thread(thread).reads) read.insert({one.file_id, timeline_.peer(one.file_id)});
  }
  std::unordered_set<int32_t> feeding;
  for (const auto& [file_id, messages] : timeline_.messages) {
    if (!read.contains(file_id)) continue;
    for (const Message& message : messages) feeding.insert(timeline_.thread(message.thread_id).proc_id);
  }
  return feeding;
}

// When workers were started that send to the driver's process: by that process, or by multiprocessing's helper for it.
std::vector<Ns> Divider::starts_of_workers(int32_t driver) const {
  const int32_t own = timeline_.thread(driver).proc_id;
  const std::unordered_set<int32_t> feeding = feeding_processes(driver);
  std::vector<Ns> starts;
  for (const Process& process : timeline_.processes) {
    if (process.main == 0 || !chain_.is_worker(process.proc_id) || !feeding.contains(process.proc_id)) continue;
    const Process& parent = timeline_.process(process.parent);
    if (parent.proc_id == own || (parent.is_helper() && parent.parent == own)) starts.push_back(process.first_ns);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// Marks what the driver does between its last wait and the start of workers: it makes their data set, pickles, forks.
void Divider::mark_starts(int32_t driver) {
  constexpr Ns kNearNs = 50'000'000;  // the place of calls inside a stretch is unknown
  constexpr Ns kShortNs = 2'000'000;
  const std::vector<Ns> starts = starts_of_workers(driver);
  if (starts.empty()) return;
  Ns wait_ns = INT64_MAX, until_ns = INT64_MAX, joins_ns = INT64_MAX;
  for (size_t i = pieces_.size(); i-- > 0;) {
    Piece& piece = pieces_[i];
    if (piece.top == Top::kWaiting) {
      if (i + 1 == pieces_.size() || pieces_[i + 1].top != Top::kWaiting) until_ns = piece.end_ns;
      if (until_ns - piece.start_ns >= kShortNs) wait_ns = piece.start_ns;
    }
    if (piece.top != Top::kOwn) continue;
    const auto start = std::lower_bound(starts.begin(), starts.end(), piece.start_ns);
    if (start == starts.end() || *start >= wait_ns) continue;
    const Ns middle_ns = piece.start_ns + (piece.end_ns - piece.start_ns) / 2;
    const bool forks = piece.label == Label::kOtherCall && *start - piece.end_ns < kNearNs;
    // A function may read the data instead of the class of a data set.
    const bool loads =
        (piece.by_loader || piece.label == Label::kLoader) && std::min(joins_ns, *start) - piece.end_ns < kShortNs;
    piece.for_workers = forks || loads || chain_.makes_near(driver, middle_ns);
    if (piece.for_workers) joins_ns = piece.start_ns;
  }
}

// Without samples: the driver imports between its calls on modules that are near each other.
Divider::Stretches Divider::importing(int32_t driver) const {
  constexpr Ns kLeastNs = 1'000'000;
  Stretches stretches;
  const auto found = timeline_.module_calls.find(driver);
  if (found == timeline_.module_calls.end()) return stretches;
  for (const auto& one : found->second) {
    if (one.second - one.first > kLeastNs) stretches.push_back(one);
  }
  return merged(std::move(stretches));
}

// Adds to `batches` the channels on which the driver receives: any message of a worker counts, and of other threads and processes those
// that send often (kOtherBatchesMin).
void Divider::note_channels(int32_t driver, Batches& batches) const {
  const Thread& thread = timeline_.thread(driver);
  std::map<int64_t, std::pair<Ns, Ns>> reads;
  for (const Read& read : thread.reads) {
    if (read.bytes <= 0) continue;
    auto [at, is_new] = reads.emplace(read.file_id, std::pair{read.end_ns, read.end_ns});
    if (!is_new) at->second.second = std::max(at->second.second, read.end_ns);
  }
  for (const auto& [file_id, when] : reads) {
    int64_t from_workers = 0, from_others = 0;
    for (const int64_t end : {file_id, timeline_.peer(file_id)}) {
      const auto* messages = end == 0 ? nullptr : timeline_.find_messages(end);
      if (messages == nullptr) continue;
      for (const Message& message : *messages) {
        const int32_t proc_id = timeline_.thread(message.thread_id).proc_id;
        if (proc_id == thread.proc_id) from_others += message.thread_id != driver ? 1 : 0;
        if (proc_id != thread.proc_id) ++(chain_.is_worker(proc_id) ? from_workers : from_others);
      }
    }
    if (from_workers == 0 && from_others < kOtherBatchesMin) continue;
    batches.channels.push_back(file_id);
    batches.first_ns = batches.first_ns == 0 ? when.first : std::min(batches.first_ns, when.first);
    batches.last_ns = std::max(batches.last_ns, when.second);
  }
}

// When a thread of the process other than the driver, such as PyTorch's pin-memory thread, got the first message from a worker. INT64_MAX: never.
Ns Divider::first_from_workers(int32_t driver) const {
  const int32_t proc_id = timeline_.thread(driver).proc_id;
  std::unordered_map<int64_t, bool> known;
  const auto comes_from_worker = [&](int64_t file_id) {
    const auto [at, is_new] = known.try_emplace(file_id, false);
    const auto* messages = is_new ? timeline_.find_messages(file_id) : nullptr;
    if (messages == nullptr) return at->second;
    at->second = std::any_of(messages->begin(), messages->end(), [&](const Message& one) {
      const int32_t sender = timeline_.thread(one.thread_id).proc_id;
      return sender != proc_id && chain_.is_worker(sender);
    });
    return at->second;
  };
  Ns first_ns = INT64_MAX;
  for (const int32_t other : timeline_.process(proc_id).threads) {
    if (other == driver) continue;
    const auto& reads = timeline_.thread(other).reads;
    const auto first = std::find_if(reads.begin(), reads.end(),
                                    [&](const Read& one) { return one.bytes > 0 && comes_from_worker(one.file_id); });
    if (first != reads.end()) first_ns = std::min(first_ns, first->end_ns);
  }
  return first_ns;
}

Batches Divider::find_batches(int32_t driver) {
  Batches batches;
  note_channels(driver, batches);
  const Thread& thread = timeline_.thread(driver);
  // Locks at which the driver often waits for other threads are probably queues within the process.
  std::map<int64_t, std::vector<const Wait*>> locks;
  for (const Wait& wait : thread.waits) {
    if (writes_checkpoint(wait.poster, wait.start_ns, wait.end_ns)) continue;
    if (wait.kind == WaitKind::kLock && !timeline_.is_python_lock(thread.proc_id, wait))
      locks[wait.argument].push_back(&wait);
    constexpr int64_t kJoins = -1;  // represents all joins: a program may start a thread for each batch and join it
    if (wait.joins_thread) locks[kJoins].push_back(&wait);
  }
  const auto take = [&](const std::vector<const Wait*>& waits) {
    batches.first_ns =
        batches.first_ns == 0 ? waits.front()->end_ns : std::min(batches.first_ns, waits.front()->end_ns);
    batches.last_ns = std::max(batches.last_ns, waits.back()->end_ns);
  };
  Ns on_channels_ns = 0, at_locks_ns = 0;
  size_t at_locks = 0;
  for (const Wait& wait : thread.waits) {
    on_channels_ns += wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kChannelRead ? wait.dur_ns() : 0;
  }
  bool found = false;
  for (const auto& [address, waits] : locks) {
    Ns sum_ns = 0;
    for (const Wait* wait : waits) sum_ns += wait->dur_ns();
    at_locks_ns += sum_ns;
    at_locks += waits.size();
    if (waits.size() < kOtherBatchesMin || (!batches.channels.empty() && 4 * sum_ns < on_channels_ns)) continue;
    take(waits);
    found = true;
  }
  // Python's queue.Queue uses a new lock for each wait, so that no address repeats often enough.
  const bool matters = batches.channels.empty() || 4 * at_locks_ns >= on_channels_ns;
  if (!found && at_locks >= kOtherBatchesMin && matters) {
    for (const auto& [address, waits] : locks) take(waits);
  }
  // Early batches may be ready before the driver asks for one; it does not wait for these.
  if (batches.first_ns != 0) batches.first_ns = std::min(batches.first_ns, first_from_workers(driver));
  // If no batches arrived: the driver loads them itself.
  std::vector<const StackSample*> samples;
  StackKinds kinds(timeline_);
  for (const StackSample& sample : thread.samples) {
    if (kinds.kind(sample.stack_id) == StackKind::kLoader) samples.push_back(&sample);
  }
  if (batches.first_ns == 0 && samples.size() >= kLoaderSamples) {
    batches.first_ns = samples.front()->start_ns;
    batches.last_ns = samples.back()->end_ns;
  }
  return batches;
}

bool Divider::writes_checkpoint(int32_t thread_id, Ns a_ns, Ns b_ns) {
  const auto [known, is_new] = checkpoints_.try_emplace(thread_id);
  Stretches& written = known->second;
  if (is_new) written = savings(thread_id, false);
  const auto after =
      std::partition_point(written.begin(), written.end(), [&](const auto& one) { return one.second <= a_ns; });
  return after != written.end() && after->first < b_ns;
}

// Whether the driver waits for another thread that writes a checkpoint.
bool Divider::waits_for_checkpoint(const Piece& piece) {
  if ((piece.top != Top::kWaiting && piece.top != Top::kChild) || piece.by_loader) return false;
  const bool loads = timeline_.process_of(piece.first_thread).role.find("DataLoader") != std::string::npos;
  return piece.first_thread != driver_ && !loads && writes_checkpoint(piece.first_thread, piece.start_ns, piece.end_ns);
}

// Whether the driver asks a server for something other than a batch: workers send the batches, and no loader code is waiting.
bool Divider::asks_server(const Piece& piece, const Batches& batches) const {
  return piece.top == Top::kWaiting && piece.hops == 0 && piece.away_file_id != 0 && !piece.by_loader &&
         !batches.channels.empty() && !timeline_.has_ranks_elsewhere && !timeline_.thread(driver_).samples.empty();
}

summary::Activity Divider::activity_of(const Piece& piece, const Batches& batches) {
  const bool starts = batches.first_ns != 0 && piece.start_ns < batches.first_ns;
  if (starts || (piece.top == Top::kOwn && piece.label == Label::kImport)) return Activity::kStartup;
  if (piece.label == Label::kWorkerEnd) return Activity::kEnd;
  if (piece.top == Top::kWaiting && piece.label == Label::kLogging) return Activity::kLogging;
  // A wait for a command is not a wait for a batch, unless the driver's stacks show that loader code runs the command.
  const bool waits = piece.top == Top::kChild || piece.top == Top::kWaiting;
  if (waits && !piece.by_loader && !timeline_.thread(driver_).samples.empty() &&
      chain_.is_command(driver_, piece.first_thread))
    return Activity::kCompute;
  if (asks_server(piece, batches)) return Activity::kCompute;
  if (waits_for_checkpoint(piece)) return Activity::kCheckpoint;
  switch (piece.top) {
    case Top::kPythonLock: return Activity::kPythonLock;
    case Top::kSleep: return piece.by_loader ? Activity::kLoader : Activity::kCompute;
    case Top::kChild:
      return chain_.is_worker(timeline_.thread(piece.thread_id).proc_id) ? Activity::kEnd : Activity::kWait;
    case Top::kWaiting:
      return batches.last_ns != 0 && piece.start_ns >= batches.last_ns ? Activity::kEnd : Activity::kWait;
    case Top::kOwn: break;
  }
  const bool loads = piece.by_loader || piece.for_workers;
  if (loads && piece.label != Label::kCheckpoint && piece.label != Label::kLogging) return Activity::kLoader;
  return activity_of_own(piece.label);
}

}  // namespace mlrun::blame
