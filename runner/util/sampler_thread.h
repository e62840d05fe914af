// SPDX-License-Identifier: Apache-2.0
// The thread of a sampler: its start, its end, and what both sides share. It is a background thread (background_thread.h), which may outlive
// the sampler: a call of a driver or of the kernel may not return.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace mlrun::util {

// Each sampler derives its shared state from this. The mutex protects all of it.
struct SamplerShared {
  SamplerShared();

  std::mutex mutex;
  std::condition_variable wake, ended_changed;  // `wake` is for the thread: it is to stop, or something is new
  bool stop = false, runs = false;
  std::string problem;  // why there are no samples, or none after some time; empty: no problem

  // Makes the thread stop. Waits up to `patience` for its end, and not where it was never started.
  void end(std::chrono::nanoseconds patience);
};

// Starts a thread `name` (at most 15 characters) that calls `body`. `body` owns `shared` too. An exception in it ends the sampler, not mlrun, and
// is the problem; so is a thread that cannot be started.
void start_sampler_thread(const std::shared_ptr<SamplerShared>& shared, const char* name, std::function<void()> body);

}  // namespace mlrun::util
