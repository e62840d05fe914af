// SPDX-License-Identifier: Apache-2.0
// Reads the sources that --sample names at a steady rate in a thread of its own. All CPU time of the thread stays within
// a share of a processor. If samples take too long, fewer are taken, and each row covers a longer time; those of many
// threads do not delay the other words (sample_shares.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/samplers/machine/source.h"

namespace mlrun::machine {

// The sampler's largest share of a processor.
inline constexpr double kMachineShare = 0.005;

struct MachineOptions {
  double hz = 10;
  std::vector<std::string> sources;  // words of --sample, of known_sources()
};
// All words that name sources, in the order in which the sources are read.
std::vector<std::string> known_sources();

struct MachineState : model::MachineSampler {
  bool has_end = false;  // the sample that ask_for_end() asked for was taken
};

// Asks the sources what they can read on this machine, without sampling; fills only not_sampled, remarks, absent.
MachineState check_sources(const std::vector<std::string>& words, const Places& places);

class MachineSampler {
 public:
  // Starts the thread, in which all signals are blocked. Requires: all words are in known_sources().
  MachineSampler(const MachineOptions& options, const Places& places);
  // Waits up to a second for a sample in progress.
  ~MachineSampler();
  MachineSampler(const MachineSampler&) = delete;
  MachineSampler& operator=(const MachineSampler&) = delete;

  // Sets the processes of the command, by their pids as mlrun sees them.
  void watch(std::vector<uint32_t> host_pids);
  // Lets the thread take the last sample of a process that has ended and is not reaped. Returns at once.
  void ask_for_end(uint32_t host_pid);
  // Whether that sample was taken, or none will be: the thread has ended.
  [[nodiscard]] bool has_answered() const;
  // Ends the sampling after one more sample.
  void stop();
  // The rows since the last call.
  Batch fetch();
  [[nodiscard]] MachineState state() const;

 private:
  struct Shared;
  static void sample(Shared& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::machine
