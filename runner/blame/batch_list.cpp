// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/batch_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runner/util/median.h"

namespace mlrun::blame {

namespace {

// Size of the header, if multiprocessing.connection writes header and body in two calls.
constexpr int64_t kHeaderBytes = 4;
// Share of the median size: a smaller message is not a batch, but a worker's notice that it ends or begins another pass.
constexpr double kMarkBytes = 0.5;
constexpr size_t kBatchesMin = 3;
constexpr int32_t kNoWorker = 0;

// The messages of workers on one channel. A header and its body are one message.
std::vector<Batch> messages_on(const Timeline& timeline, const Chain& chain, int32_t driver_proc, int64_t file_id) {
  std::vector<Batch> all;
  const auto* messages = timeline.find_messages(file_id);
  if (messages == nullptr) return all;
  for (size_t i = 0; i < messages->size(); ++i) {
    const Message& message = (*messages)[i];
    const int32_t proc_id = timeline.thread(message.thread_id).proc_id;
    if (!chain.is_worker(proc_id) && proc_id != driver_proc) return {};
    Batch batch;
    // At the end the driver's process writes a message into the channel to stop its own reading thread. That is not a batch.
    batch.proc_id = proc_id == driver_proc ? kNoWorker : proc_id;
    batch.sent_ns = message.end_ns;
    batch.bytes = message.bytes;
    const bool is_header =
        message.bytes == kHeaderBytes && i + 1 < messages->size() && (*messages)[i + 1].thread_id == message.thread_id;
    if (is_header) {
      ++i;
      batch.sent_ns = (*messages)[i].end_ns;
      batch.bytes += (*messages)[i].bytes;
    }
    all.push_back(batch);
  }
  return all;
}

// Sets the time at which threads of the driver's process had read all bytes of each message.
void find_reads(const Timeline& timeline, int32_t proc_id, int64_t file_id, std::vector<Batch>& batches) {
  std::vector<const Read*> reads;
  for (const int32_t thread : timeline.process(proc_id).threads) {
    for (const Read& read : timeline.thread(thread).reads) {
      if (read.file_id == file_id && read.bytes > 0) reads.push_back(&read);
    }
  }
  std::sort(reads.begin(), reads.end(), [](const Read* a, const Read* b) { return a->end_ns < b->end_ns; });
  int64_t read_bytes = 0, sent_bytes = 0;
  size_t at = 0;
  for (Batch& batch : batches) {
    sent_bytes += batch.bytes;
    while (at < reads.size() && read_bytes < sent_bytes) read_bytes += reads[at++]->bytes;
    if (read_bytes >= sent_bytes && at > 0) batch.received_ns = reads[at - 1]->end_ns;
  }
  std::erase_if(batches, [](const Batch& batch) { return batch.received_ns == 0 || batch.proc_id == kNoWorker; });
}

// A message that arrives while the driver goes on waiting is only a part of what it waits for, as with Pool.map. Joins such parts.
void join_parts(const Thread& driver, std::vector<Batch>& batches) {
  // Joined only if more than a third are parts: a pool whose results are taken one by one has fewer.
  constexpr size_t kShare = 3;
  std::vector<Batch> whole;
  for (size_t i = 0; i < batches.size(); ++i) {
    const size_t number = driver.first_wait(batches[i].received_ns);
    const bool waits = number < driver.waits.size() && driver.waits[number].start_ns < batches[i].received_ns;
    const bool is_part = waits && i + 1 < batches.size() && batches[i + 1].received_ns <= driver.waits[number].end_ns;
    if (!is_part) whole.push_back(batches[i]);
  }
  if (kShare * (batches.size() - whole.size()) > batches.size()) batches = std::move(whole);
}

// Removes the workers' notices that they have no more batches or begin another pass.
void drop_marks(Epoch& epoch) {
  std::vector<int64_t> sizes;
  for (const Batch& batch : epoch.batches) sizes.push_back(batch.bytes);
  const double least = kMarkBytes * static_cast<double>(util::upper_median(std::move(sizes)));
  std::map<int32_t, Ns> said;  // by worker: time of its last notice, until its next batch
  std::map<int32_t, size_t> sent;
  for (Batch& batch : epoch.batches) {
    if (static_cast<double>(batch.bytes) < least) {
      if (sent[batch.proc_id] > 0) said[batch.proc_id] = batch.sent_ns;
      continue;
    }
    ++sent[batch.proc_id];
    std::vector<Ns>& resumed = epoch.resumed[batch.proc_id];
    if (const auto word = said.find(batch.proc_id); word != said.end()) {
      resumed.push_back(word->second);
      said.erase(word);
    }
    batch.pass = static_cast<int32_t>(resumed.size());
  }
  std::erase_if(epoch.batches, [&](const Batch& batch) { return static_cast<double>(batch.bytes) < least; });
}

// The channel from which a worker reads its tasks: its main thread reads that one most often.
int64_t task_channel(const Timeline& timeline, int32_t proc_id) {
  std::map<int64_t, int64_t> counts;
  for (const Read& read : timeline.thread(timeline.process(proc_id).main).reads)
    counts[read.file_id] += read.bytes > kHeaderBytes ? 1 : 0;
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

// In each pass the n-th batch of a worker is for its n-th task. The worker begins a task when it has read it and has sent the batch before.
void find_begins(const Timeline& timeline, Epoch& epoch) {
  for (const int32_t worker : epoch.workers) {
    const int64_t channel = task_channel(timeline, worker);
    std::vector<Ns> tasks;
    for (const Read& read : timeline.thread(timeline.process(worker).main).reads) {
      if (read.file_id == channel && read.bytes > kHeaderBytes) tasks.push_back(read.end_ns);
    }
    size_t number = 0;
    int32_t pass = 0;
    Ns free_ns = 0;
    for (Batch& batch : epoch.batches) {
      if (batch.proc_id != worker) continue;
      if (batch.pass != pass) {
        pass = batch.pass;
        const Ns resumed_ns = epoch.resumed[worker][static_cast<size_t>(pass) - 1];
        number = static_cast<size_t>(std::upper_bound(tasks.begin(), tasks.end(), resumed_ns) - tasks.begin());
      }
      const Ns task_ns = number < tasks.size() ? tasks[number] : free_ns;
      batch.begun_ns = std::min(batch.sent_ns, std::max(task_ns, free_ns));
      free_ns = batch.sent_ns;
      ++number;
    }
  }
}

// The times at which the driver's process sent tasks to these workers.
std::vector<Ns> find_puts(const Timeline& timeline, int32_t driver_proc, const std::vector<int32_t>& workers) {
  std::vector<Ns> puts;
  std::set<int64_t> channels;
  for (const int32_t worker : workers) channels.insert(task_channel(timeline, worker));
  for (const int64_t channel : channels) {
    const auto* messages = timeline.find_messages(channel);
    if (messages == nullptr) continue;
    for (const Message& message : *messages) {
      const bool is_task = timeline.thread(message.thread_id).proc_id == driver_proc && message.bytes > kHeaderBytes;
      if (is_task) puts.push_back(message.start_ns);
    }
  }
  std::sort(puts.begin(), puts.end());
  return puts;
}

// Sorts batches by their tasks: in each pass, batch n of worker r has number n * workers + r.
void order_by_tasks(Epoch& epoch) {
  std::unordered_map<int32_t, size_t> rank;
  std::map<std::pair<int32_t, int32_t>, size_t> count;
  for (size_t i = 0; i < epoch.workers.size(); ++i) rank[epoch.workers[i]] = i;
  std::vector<std::pair<std::pair<int32_t, size_t>, Batch>> numbered;
  for (const Batch& batch : epoch.batches) {
    const size_t number = count[{batch.pass, batch.proc_id}]++ * epoch.workers.size() + rank[batch.proc_id];
    numbered.emplace_back(std::pair{batch.pass, number}, batch);
  }
  std::stable_sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < numbered.size(); ++i) epoch.batches[i] = numbered[i].second;
}

// When the pass began: the first worker had started, or had announced another pass.
Ns began_ns(const Timeline& timeline, const Epoch& epoch, int32_t pass) {
  if (pass == 0) return timeline.process(epoch.workers.front()).first_ns;
  Ns first_ns = INT64_MAX;
  for (const auto& [worker, resumed] : epoch.resumed) {
    if (static_cast<size_t>(pass) <= resumed.size())
      first_ns = std::min(first_ns, resumed[static_cast<size_t>(pass) - 1]);
  }
  return first_ns;
}

// The loop gets a batch when this batch and all before it have arrived. A batch that arrived early is taken when the driver's process sends the next
// task, as a DataLoader does on returning a batch. At the end of a pass no task is left; the batch is then taken after a step of median length.
void find_takes(const Timeline& timeline, int32_t driver, Epoch& epoch) {
  std::vector<Ns> puts;
  if (epoch.in_order) puts = find_puts(timeline, timeline.thread(driver).proc_id, epoch.workers);
  std::vector<Ns> lengths;
  Ns come_ns = 0, last_ns = 0;
  for (size_t from = 0, to = 0; from < epoch.batches.size(); from = to) {
    const int32_t pass = epoch.batches[from].pass;
    while (to < epoch.batches.size() && epoch.batches[to].pass == pass) ++to;
    const auto later = std::lower_bound(puts.begin(), puts.end(), epoch.batches[from].received_ns);
    const auto ahead = later - std::lower_bound(puts.begin(), later, began_ns(timeline, epoch, pass));
    if (from == 0) epoch.ahead = ahead;
    const auto count = static_cast<int64_t>(to - from);
    for (int64_t i = 0; i < count; ++i) {
      Batch& batch = epoch.batches[from + static_cast<size_t>(i)];
      const Ns before_ns = come_ns;
      come_ns = std::max(come_ns, batch.received_ns);
      batch.taken_ns = come_ns;
      const bool has_put = epoch.in_order && i < count - ahead && later + i < puts.end();
      if (has_put) {
        batch.taken_ns = std::max(come_ns, *(later + i));
      } else if (come_ns == before_ns && !lengths.empty()) {
        batch.taken_ns = std::max(come_ns, last_ns + util::upper_median(lengths));
      }
      if (i > 0) lengths.push_back(batch.taken_ns - last_ns);
      last_ns = batch.taken_ns;
    }
  }
}

bool is_data_loader(const Timeline& timeline, const std::vector<int32_t>& workers) {
  return std::all_of(workers.begin(), workers.end(), [&](int32_t worker) {
    return timeline.process(worker).role.find("DataLoader") != std::string::npos;
  });
}

}  // namespace

std::vector<Epoch> list_batches(const Timeline& timeline, const Division& division, const Chain& chain) {
  std::vector<Epoch> epochs;
  const int32_t proc_id = timeline.thread(division.driver).proc_id;
  std::set<int64_t> channels;
  for (const int32_t thread : timeline.process(proc_id).threads) {
    for (const Read& read : timeline.thread(thread).reads) {
      const model::FileKind kind = timeline.kind(read.file_id);
      if (kind == model::FileKind::kPipe || kind == model::FileKind::kFifo) channels.insert(read.file_id);
    }
  }
  for (const int64_t channel : channels) {
    Epoch epoch;
    epoch.batches = messages_on(timeline, chain, proc_id, channel);
    if (epoch.batches.size() < kBatchesMin) continue;
    find_reads(timeline, proc_id, channel, epoch.batches);
    if (epoch.batches.size() < kBatchesMin) continue;
    drop_marks(epoch);
    std::set<int32_t> workers;
    for (const Batch& batch : epoch.batches) workers.insert(batch.proc_id);
    epoch.workers.assign(workers.begin(), workers.end());
    std::stable_sort(epoch.workers.begin(), epoch.workers.end(),
                     [&](int32_t a, int32_t b) { return timeline.process(a).first_ns < timeline.process(b).first_ns; });
    epoch.in_order = is_data_loader(timeline, epoch.workers);
    find_begins(timeline, epoch);
    if (epoch.in_order) {
      order_by_tasks(epoch);
    } else {
      join_parts(timeline.thread(division.driver), epoch.batches);
    }
    find_takes(timeline, division.driver, epoch);
    epochs.push_back(std::move(epoch));
  }
  std::sort(epochs.begin(), epochs.end(),
            [](const Epoch& a, const Epoch& b) { return a.batches.front().taken_ns < b.batches.front().taken_ns; });
  return epochs;
}

}  // namespace mlrun::blame
