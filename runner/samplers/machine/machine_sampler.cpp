// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/machine_sampler.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

#include "runner/samplers/machine/bandwidth_source.h"
#include "runner/samplers/machine/cpu_source.h"
#include "runner/samplers/machine/disk_source.h"
#include "runner/samplers/machine/memory_source.h"
#include "runner/samplers/machine/net_source.h"
#include "runner/samplers/machine/process_source.h"
#include "runner/samplers/machine/sample_shares.h"
#include "runner/util/clock.h"
#include "runner/util/sampler_thread.h"

namespace mlrun::machine {

namespace {

constexpr std::chrono::seconds kMachinePatience(1);
constexpr size_t kBytesMax = 64 << 20;  // rows buffered until the collector fetches them
// Aims at 80 % of the share: a tenth is for PSS, which has a limit of its own (process_source.cpp), and a tenth for CPU time
// that is spent after the thread's clock was read.
constexpr double kUsedShare = 0.8 * kMachineShare, kSavedMaxNs = 5e6;

template <typename Made>
std::unique_ptr<Source> make_source(const Places& places) {
  return std::make_unique<Made>(places);
}

// A word of --sample and a source for it. A word may have several sources.
struct Kind {
  const char* word;
  std::unique_ptr<Source> (*make)(const Places&);
};
constexpr Kind kSourceKinds[] = {{"cpu", make_source<CpuSource>},          {"disk", make_source<DiskSource>},
                                 {"net", make_source<NetSource>},          {"memory", make_source<MemorySource>},
                                 {"memory", make_source<BandwidthSource>}, {"process", make_source<ProcessSource>}};

bool is_process(std::string_view word) { return word == "process"; }

uint64_t own_cpu_ns() { return util::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// Makes and reads the sources. Used in one thread: the sampler's, or the caller's of check_sources().
class Reader {
 public:
  Reader(const MachineOptions& options, const Places& places) {
    for (const Kind& kind : kSourceKinds) {
      if (std::find(options.sources.begin(), options.sources.end(), kind.word) != options.sources.end())
        sources_.emplace_back(kind.word, kind.make(places));
    }
  }

  [[nodiscard]] SampleShares::Words words() const {
    SampleShares::Words words;
    for (const auto& [word, source] : sources_) (is_process(word) ? words.process : words.others) = true;
    return words;
  }
  void watch(const std::vector<uint32_t>& host_pids) {
    const uint64_t before_ns = own_cpu_ns();
    for (const auto& [word, source] : sources_) source->watch(host_pids);
    process_cpu_ns_ += own_cpu_ns() - before_ns;  // only that word has something to do here
  }
  // Each source gets its own time stamp, from just before it is read.
  Batch sample(SampleShares::Words due) {
    Batch batch;
    for (const auto& [word, source] : sources_) {
      if (!(is_process(word) ? due.process : due.others)) continue;
      const uint64_t before_ns = own_cpu_ns();
      source->sample(util::monotonic_ns(), batch);
      if (is_process(word)) process_cpu_ns_ += own_cpu_ns() - before_ns;
      bounded_ns_ += source->take_bounded_ns();
    }
    return batch;
  }
  Batch sample_end(uint32_t host_pid) {
    const uint64_t before_ns = own_cpu_ns();
    Batch batch;
    for (const auto& [word, source] : sources_) source->sample_end(host_pid, util::monotonic_ns(), batch);
    process_cpu_ns_ += own_cpu_ns() - before_ns;
    return batch;
  }
  // CPU time of `process` since the previous call, without what has a limit of its own.
  uint64_t take_process_cpu_ns() {
    const uint64_t cpu_ns = std::exchange(process_cpu_ns_, 0);
    return cpu_ns - std::min(cpu_ns, bounded_ns_);
  }
  uint64_t take_bounded_ns() { return std::exchange(bounded_ns_, 0); }
  Batch finish() {
    Batch batch = sample(words());
    for (const auto& [word, source] : sources_) source->finish(batch);
    return batch;
  }
  void describe(MachineState& state) const {
    state.not_sampled.clear();
    state.remarks.clear();
    state.absent.clear();
    for (const auto& [word, source] : sources_) {
      for (std::string& text : source->problems()) state.not_sampled.push_back({word, std::move(text)});
      for (std::string& text : source->remarks()) state.remarks.push_back({word, std::move(text)});
      if (!source->works()) state.absent.emplace_back(word);
    }
  }

 private:
  std::vector<std::pair<const char*, std::unique_ptr<Source>>> sources_;
  uint64_t bounded_ns_ = 0, process_cpu_ns_ = 0;
};

}  // namespace

std::vector<std::string> known_sources() {
  std::vector<std::string> words;
  for (const Kind& kind : kSourceKinds) {
    if (words.empty() || words.back() != kind.word) words.emplace_back(kind.word);
  }
  return words;
}

MachineState check_sources(const std::vector<std::string>& words, const Places& places) {
  MachineState state;
  Reader({.hz = 1, .sources = words}, places).describe(state);
  return state;
}

struct MachineSampler::Shared : util::SamplerShared {
  bool has_news = false;
  uint32_t ended_pid = 0;  // whose last sample is to be taken; 0: none
  MachineOptions options;
  Places places;
  std::vector<uint32_t> host_pids;
  Batch rows;
  MachineState state;

  // Requires: the mutex is held.
  void add(Batch batch) {
    uint64_t count = 0;
    for (const Batch::Table& table : batch.tables()) count += table.rows.size() / table.row_bytes;
    state.rows += count;
    state.rows_dropped += rows.take(std::move(batch), kBytesMax);
  }
  // Requires: the mutex is held.
  void count(SampleShares::Words words, SampleShares::Words due) {
    const bool is_sampled = words.others ? due.others : due.process;
    ++(is_sampled ? state.samples : state.left_out);
    state.process_left_out += words.others && words.process && !due.process ? 1 : 0;
  }
};

MachineSampler::MachineSampler(const MachineOptions& options, const Places& places)
    : shared_(std::make_shared<Shared>()) {
  shared_->options = options;
  shared_->places = places;
  util::start_sampler_thread(shared_, "mlrun-machine", [shared = shared_] { sample(*shared); });
}

MachineSampler::~MachineSampler() { stop(); }

void MachineSampler::watch(std::vector<uint32_t> host_pids) {
  const std::lock_guard lock(shared_->mutex);
  if (host_pids == shared_->host_pids) return;
  shared_->host_pids = std::move(host_pids);
  shared_->has_news = true;
}

void MachineSampler::stop() { shared_->end(kMachinePatience); }

void MachineSampler::ask_for_end(uint32_t host_pid) {
  const std::lock_guard lock(shared_->mutex);
  shared_->ended_pid = host_pid;
  shared_->wake.notify_all();
}

bool MachineSampler::has_answered() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ended_pid == 0 || !shared_->runs;
}

Batch MachineSampler::fetch() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->rows, {});
}

MachineState MachineSampler::state() const {
  const std::lock_guard lock(shared_->mutex);
  MachineState state = shared_->state;
  state.problem = shared_->problem;
  if (shared_->stop && shared_->runs && state.problem.empty())
    state.problem =
        fmt::format("the last sample of the machine took longer than {} s and is missing", kMachinePatience.count());
  return state;
}

void MachineSampler::sample(Shared& shared) {
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / shared.options.hz));
  const uint64_t began_ns = util::monotonic_ns(), began_cpu_ns = own_cpu_ns();
  Reader reader(shared.options, shared.places);
  const SampleShares::Words words = reader.words();
  SampleShares shares(kUsedShare, kSavedMaxNs, words, began_ns);
  uint64_t charged_ns = began_cpu_ns;
  Clock::time_point due = Clock::now();
  std::unique_lock lock(shared.mutex);
  const auto take_end = [&] {
    const uint32_t ended_pid = shared.ended_pid;
    lock.unlock();
    Batch batch = reader.sample_end(ended_pid);
    lock.lock();
    shared.add(std::move(batch));
    shared.ended_pid = 0;
    shared.state.has_end = true;
  };
  for (bool last = false; !last;) {
    last = shared.stop;
    // Taken as the last one is, also beyond the share: counters are differences, and the run has rows.
    const bool is_first = shared.state.samples == 0;
    const bool has_news = std::exchange(shared.has_news, false);
    const std::vector<uint32_t> host_pids = has_news ? shared.host_pids : std::vector<uint32_t>();
    lock.unlock();
    if (has_news) reader.watch(host_pids);
    const uint64_t used_ns = own_cpu_ns() - std::exchange(charged_ns, own_cpu_ns());
    const uint64_t process_ns = reader.take_process_cpu_ns();
    shares.take(used_ns - std::min(used_ns, reader.take_bounded_ns()), process_ns);
    const SampleShares::Words sampled = last || is_first ? words : shares.due(util::monotonic_ns());
    Batch batch = last ? reader.finish() : reader.sample(sampled);
    lock.lock();
    shared.add(std::move(batch));
    shared.count(words, sampled);
    if (last || shared.state.samples <= 2) reader.describe(shared.state);
    shared.state.cpu_ns = own_cpu_ns() - began_cpu_ns;
    shared.state.wall_ns = util::monotonic_ns() - began_ns;
    for (due += pause; due < Clock::now(); due += pause) ++shared.state.late_samples;
    const auto has_work = [&] { return shared.stop || shared.ended_pid != 0; };
    while (shared.wake.wait_until(lock, due, has_work) && shared.ended_pid != 0) take_end();
  }
}

}  // namespace mlrun::machine
