// SPDX-License-Identifier: Apache-2.0
// What a sampler is to a run: one interface for all of them.
#pragma once

#include <nlohmann/json_fwd.hpp>

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

}  // namespace mlrun::samplers
