// SPDX-License-Identifier: Apache-2.0
// The samplers of a run. Each one is a SamplerPart: the run does not know which there are.
#pragma once

#include <memory>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/descendant_watch.h"
#include "runner/collect/recording.h"
#include "runner/options/options.h"
#include "runner/samplers/access_part.h"
#include "runner/samplers/sampler_part.h"

namespace mlrun::samplers {

class Samplers {
 public:
  // All outlive it, but `access`, which is taken over (nullptr: no --access). `command_cpus`: how many processors --cpus or --cpu-node leave
  // to the command; 0: all of mlrun's.
  Samplers(const RunOptions& options, size_t command_cpus, collect::Recording& recording,
           const collect::DescendantWatch& watch, std::unique_ptr<AccessStart> access);

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
