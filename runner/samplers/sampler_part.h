// SPDX-License-Identifier: Apache-2.0
// The interface of all samplers of a run.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::samplers {

// A sampler begins to sample when it is constructed. Called only from the collector's thread, which collect() does not keep
// waiting.
class SamplerPart {
 public:
  SamplerPart() = default;
  virtual ~SamplerPart() = default;
  SamplerPart(const SamplerPart&) = delete;
  SamplerPart& operator=(const SamplerPart&) = delete;

  // Writes new samples into the spool; called in each pass of the collector.
  virtual void collect() = 0;
  // The command has ended, but its files in /proc can still be read. Called in each pass until it returns true: the command may be reaped.
  virtual bool command_ends(uint32_t /*host_pid*/) { return true; }
  // Ends the sampling and describes it in session.json.
  virtual void finish(nlohmann::json& session) = 0;
};

}  // namespace mlrun::samplers
