// SPDX-License-Identifier: Apache-2.0
// The access sampler of a run. It is there before the command is: events are inherited from the first instruction on.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runner/collect/descendant_watch.h"
#include "runner/collect/recording.h"
#include "runner/options/options.h"
#include "runner/samplers/access/access_sampler.h"
#include "runner/samplers/sampler_part.h"
#include "runner/util/result.h"

namespace mlrun::samplers {

// What was chosen for --access, before anything else of the run exists.
class AccessStart {
 public:
  // Tries the rungs of the ladder; an error if none can be used and one was required. Says what windows will cost.
  static Result<std::unique_ptr<AccessStart>> settle(const AccessOptions& options);

  // Whether any of them sees memory by mapping.
  [[nodiscard]] bool reads_bits() const { return reads_bits_; }
  // The command has been created and has not begun.
  void attach(pid_t command);

 private:
  friend class AccessPart;
  std::unique_ptr<access::AccessSampler> sampler_;
  std::vector<access::TriedRung> tried_;
  std::string problem_;
  bool reads_bits_ = false;
};

class AccessPart : public SamplerPart {
 public:
  // `start` is taken over. All others outlive it.
  AccessPart(AccessStart start, collect::Recording& recording, const collect::DescendantWatch& watch);

  void collect() override;
  void finish(nlohmann::json& session) override;

 private:
  void write();

  AccessStart start_;
  collect::Recording& recording_;
  const collect::DescendantWatch& watch_;
  uint64_t next_watch_ns_ = 0, next_write_ns_ = 0;
};

}  // namespace mlrun::samplers
