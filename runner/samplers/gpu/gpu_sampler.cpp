// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_sampler.h"

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include "runner/util/row_buffer.h"
#include "runner/util/sampler_thread.h"

namespace mlrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(1);
constexpr size_t kRowsMax = 100'000;  // of each kind, while the collector does not fetch them

}  // namespace

struct GpuSampler::Shared : util::SamplerShared {
  bool fetches_samples = false;
  Clock::duration pause{};  // between samples; 0: no sampling
  News news;
  model::GpuSampler state;
};

GpuSampler::GpuSampler(double samples_per_second, bool fetches_samples) : shared_(std::make_shared<Shared>()) {
  shared_->fetches_samples = fetches_samples;
  if (samples_per_second > 0) {
    shared_->pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / samples_per_second));
  }
  util::start_sampler_thread(shared_, "mlrun-gpu", [shared = shared_] { watch_gpus(*shared); });
}

GpuSampler::~GpuSampler() { stop(); }

void GpuSampler::stop() { shared_->end(kPatience); }

GpuSampler::News GpuSampler::fetch() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->news, {});
}

model::GpuSampler GpuSampler::state() const {
  const std::lock_guard lock(shared_->mutex);
  model::GpuSampler state = shared_->state;
  state.problem = shared_->problem;
  return state;
}

// Returns only when no call of the driver is in progress: mlrun may end then.
void GpuSampler::watch_gpus(Shared& shared) {
  auto nvml = Nvml::open();
  if (!nvml) {
    const std::lock_guard lock(shared.mutex);
    shared.problem = nvml.error().text;
    return;
  }
  GpuWatch watch(*std::move(nvml), shared.fetches_samples);
  std::unique_lock lock(shared.mutex);
  shared.state.gpus = static_cast<int64_t>(watch.count());
  if (watch.count() == 0) {
    shared.problem = "the NVIDIA driver knows no GPU that can be sampled";
    return;
  }
  shared.news.devices = watch.describe();
  if (shared.pause == Clock::duration::zero()) return;

  GpuRows rows;
  Clock::time_point due = Clock::now();
  for (bool last = false; !last;) {
    last = shared.stop;
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    watch.sample(rows);
    const Clock::duration took = Clock::now() - begin;
    lock.lock();
    ++shared.state.samples;
    shared.state.sample_ns += std::chrono::nanoseconds(took).count();
    shared.state.rows_dropped += util::move_rows(rows.gpus, shared.news.rows.gpus, kRowsMax);
    shared.state.rows_dropped += util::move_rows(rows.processes, shared.news.rows.processes, kRowsMax);
    shared.state.rows_dropped += util::move_rows(rows.driver, shared.news.rows.driver, kRowsMax);
    shared.state.not_sampled = watch.not_sampled();
    for (due += shared.pause; due < Clock::now(); due += shared.pause) ++shared.state.late_samples;
    shared.wake.wait_until(lock, due, [&] { return shared.stop; });
  }
}

}  // namespace mlrun::gpu
