// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/access_sampler.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "runner/util/access_rungs.h"
#include "runner/util/clock.h"
#include "runner/util/sampler_thread.h"

namespace mlrun::access {

namespace {

constexpr std::chrono::seconds kAccessPatience(1);
constexpr int kNice = -15;
constexpr size_t kRowsMax =
    (size_t{64} << 20) / sizeof(mlrun_access_sample);  // buffered until the collector fetches them

}  // namespace

struct AccessSampler::Shared : util::SamplerShared {
  bool has_news = false;
  std::vector<ChosenRung> rungs;
  std::vector<uint32_t> host_pids;
  Rows rows;
  AccessState state;

  // Requires: the mutex is held.
  void take(const Rows& fresh) {
    const size_t count = std::min(fresh.size(), kRowsMax - std::min(rows.size(), kRowsMax));
    rows.insert(rows.end(), fresh.begin(), fresh.begin() + static_cast<ptrdiff_t>(count));
    state.rows += fresh.size();
    state.rows_dropped += fresh.size() - count;
    note_facts();
  }
  void note_facts() {
    state.rungs.clear();
    for (const ChosenRung& one : rungs) {
      model::MemoryAccess::Rung& rung = state.rungs.emplace_back(one.made->facts());
      rung.rung = util::access_rung_name(one.tried.rung);
      rung.blind_to = rung_is_blind_to(one.tried.rung);
    }
  }
};

AccessSampler::AccessSampler(std::vector<ChosenRung> rungs) : shared_(std::make_shared<Shared>()) {
  shared_->rungs = std::move(rungs);
  shared_->note_facts();
}

AccessSampler::~AccessSampler() { stop(); }

std::vector<TriedRung> AccessSampler::attach(pid_t command) {
  std::vector<TriedRung> failed;
  std::vector<ChosenRung> good;
  for (ChosenRung& one : shared_->rungs) {
    if (std::string problem = one.made->attach(command); problem.empty()) {
      good.push_back(std::move(one));
    } else {
      failed.push_back({one.tried.rung, std::move(problem), "", ""});
    }
  }
  shared_->rungs = std::move(good);
  shared_->note_facts();
  return failed;
}

void AccessSampler::start() {
  util::start_sampler_thread(shared_, "mlrun-access", [shared = shared_] {
    sample(*shared);
    shared->rungs.clear();  // closes the rungs' events, and stops DAMON
  });
}

void AccessSampler::watch(std::vector<uint32_t> host_pids) {
  const std::lock_guard lock(shared_->mutex);
  if (host_pids == shared_->host_pids) return;
  shared_->host_pids = std::move(host_pids);
  shared_->has_news = true;
  shared_->wake.notify_all();
}

void AccessSampler::stop() { shared_->end(kAccessPatience); }

Rows AccessSampler::fetch() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->rows, {});
}

AccessState AccessSampler::state() const {
  const std::lock_guard lock(shared_->mutex);
  AccessState state = shared_->state;
  state.problem = shared_->problem;
  if (shared_->stop && shared_->runs && state.problem.empty())
    state.problem =
        fmt::format("the last sample of accesses took longer than {} s and is missing", kAccessPatience.count());
  return state;
}

void AccessSampler::sample(Shared& shared) {
  // While this thread clears and reads bits, the kernel holds a lock of the traced program for it. If the thread then waits for a processor, the
  // program waits too. Without CAP_SYS_NICE the priority is not changed.
  ::setpriority(PRIO_PROCESS, 0, kNice);
  std::vector<uint64_t> due(shared.rungs.size(), 0);
  const uint64_t began_cpu_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  std::unique_lock lock(shared.mutex);
  for (bool last = false; !last && !due.empty();) {
    last = shared.stop;
    const bool has_news = std::exchange(shared.has_news, false);
    const std::vector<uint32_t> host_pids = has_news ? shared.host_pids : std::vector<uint32_t>();
    lock.unlock();
    Rows rows;
    for (size_t i = 0; i < due.size(); i++) {
      Rung& rung = *shared.rungs[i].made;
      if (has_news) {
        rung.watch(host_pids);
        due[i] = 0;
      }
      const uint64_t now_ns = util::monotonic_ns();
      if (last) {
        rung.finish(now_ns, rows);
      } else if (due[i] <= now_ns) {
        due[i] = rung.sample(now_ns, rows);
      }
    }
    lock.lock();
    shared.take(rows);
    shared.state.cpu_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_cpu_ns;
    const uint64_t next_ns = *std::min_element(due.begin(), due.end()), now_ns = util::monotonic_ns();
    if (!last && next_ns > now_ns)
      shared.wake.wait_for(lock, std::chrono::nanoseconds(next_ns - now_ns),
                           [&] { return shared.stop || shared.has_news; });
  }
}

}  // namespace mlrun::access
