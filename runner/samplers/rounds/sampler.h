// SPDX-License-Identifier: Apache-2.0
// Samples the recording processes and the machine in one thread of its own, within one budget: a share of a processor
// that includes everything the thread does. If the share is too small, samples are left out; the first line goes last:
//
//   threads that drive   Python stack, counters of the thread    at the full rate
//   all threads          counters of the thread                  once a second
//   other threads        Python stack, counters of the thread    in turn; at the full rate if the share suffices
//   the machine          processors, pressure                    once a second
//
// Results are buffered here until the collector fetches them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/collect/process_watch.h"
#include "runner/events/host_sample.h"
#include "runner/model/run.h"
#include "runner/samplers/python/stack_sampler.h"

namespace mlrun::rounds {

// Largest share of a processor: by default, and with `--python-stacks` given.
inline constexpr double kShareByDefault = 0.005, kShareByName = 0.02;

struct SamplerOptions {
  double python_hz = 0;  // 0: no Python stacks
  bool python_by_name = false;
  bool threads = false, machine = false;
  size_t command_cpus = 0;  // how many --cpus or --cpu-node leave to the command; 0: those that this process may use
  [[nodiscard]] bool any() const { return python_hz > 0 || threads || machine; }
};

struct SamplerState : model::RoundsSampler {
  model::PythonSampler python;
};

class Sampler {
 public:
  // Starts the thread. All signals are blocked in it.
  explicit Sampler(const SamplerOptions& options);
  // Waits up to a second for a sample in progress.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Sets the processes to sample. `is_paused`: no Python stacks; the other samples go on.
  void watch(std::vector<collect::WatchedProcess> processes, bool is_paused = false);

  // Ends the sampling.
  void stop();

  // The results since the last call.
  struct News {
    std::vector<std::string> python;  // payloads
    std::vector<mlrun_thread_sample> threads;
    std::vector<mlrun_machine_sample> machine;
  };
  News fetch();
  [[nodiscard]] SamplerState state() const;

 private:
  struct Shared;
  static void sample(Shared& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::rounds
