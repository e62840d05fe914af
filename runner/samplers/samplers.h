// SPDX-License-Identifier: Apache-2.0
// All samplers of a run. Each is a SamplerPart, so the run need not know which samplers exist.
#pragma once

#include <cstdint>
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
  // Takes over `access` (nullptr: no --access); the other arguments must outlive this object. `command_cpus`: number of processors that --cpus
  // or --cpu-node give the command; 0: the same as mlrun's.
  Samplers(const RunOptions& options, size_t command_cpus, collect::Recording& recording,
           const collect::DescendantWatch& watch, std::unique_ptr<AccessStart> access);

  void collect() {
    for (const auto& part : parts_) part->collect();
  }
  // Whether the command, which has ended, may be reaped. To be called in each pass until then.
  bool command_ends(uint32_t host_pid) {
    bool may_reap = true;
    for (const auto& part : parts_) may_reap = part->command_ends(host_pid) && may_reap;
    return may_reap;
  }
  void finish(nlohmann::json& session) {
    for (const auto& part : parts_) part->finish(session);
  }

 private:
  std::vector<std::unique_ptr<SamplerPart>> parts_;
};

}  // namespace mlrun::samplers
