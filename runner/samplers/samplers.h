// SPDX-License-Identifier: Apache-2.0
// The samplers of a run. Each one is a SamplerPart: the run does not know which there are.
#pragma once

#include <memory>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/descendant_watch.h"
#include "runner/collect/recording.h"
#include "runner/options/options.h"

namespace mlrun::samplers {

// A sampler begins when it is made. Used by the collector's thread only, which it does not keep waiting.
class SamplerPart {
 public:
  SamplerPart() = default;
  virtual ~SamplerPart() = default;
  SamplerPart(const SamplerPart&) = delete;
  SamplerPart& operator=(const SamplerPart&) = delete;

  // Writes new samples into the spool; called in each pass of the collector.
  virtual void collect() = 0;
  // Ends the sampling and describes it in session.json.
  virtual void finish(nlohmann::json& session) = 0;
};

class Samplers {
 public:
  // All outlive it. `command_cpus`: how many processors --cpus or --cpu-node leave to the command; 0: all of mlrun's.
  Samplers(const RunOptions& options, size_t command_cpus, collect::Recording& recording,
           const collect::DescendantWatch& watch);

  void collect() {
    for (const auto& part : parts_) part->collect();
  }
  void finish(nlohmann::json& session) {
    for (const auto& part : parts_) part->finish(session);
  }

 private:
  std::vector<std::unique_ptr<SamplerPart>> parts_;
};

}  // namespace mlrun::samplers
