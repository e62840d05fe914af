// SPDX-License-Identifier: Apache-2.0
#include "runner/util/sampler_thread.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "runner/util/background_thread.h"

namespace mlrun::util {

namespace {

constexpr size_t kProblemBytes = 256;

void run_sampler(SamplerShared& shared, const char* name, const std::function<void()>& body) {
  pthread_setname_np(pthread_self(), name);
  try {
    body();
  } catch (const std::exception& error) {
    const std::lock_guard lock(shared.mutex);
    shared.problem.assign("the sampler ended early: ").append(error.what());
  }
  const std::lock_guard lock(shared.mutex);
  shared.runs = false;
  shared.ended_changed.notify_all();
}

}  // namespace

// Memory for the text is taken before the thread may find none.
SamplerShared::SamplerShared() { problem.reserve(kProblemBytes); }

void SamplerShared::end(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex);
  stop = true;
  wake.notify_all();
  ended_changed.wait_for(lock, patience, [&] { return !runs; });
}

void start_sampler_thread(const std::shared_ptr<SamplerShared>& shared, const char* name, std::function<void()> body) {
  shared->runs = true;
  const std::string problem =
      start_background_thread([shared, name, body = std::move(body)] { run_sampler(*shared, name, body); });
  if (problem.empty()) return;
  shared->problem = problem;
  shared->runs = false;
}

}  // namespace mlrun::util
