// SPDX-License-Identifier: Apache-2.0
// The access sampler of a run. It is made before the command runs, so that the command inherits perf events from its first instruction on.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/collect/descendant_watch.h"
#include "runner/collect/recording.h"
#include "runner/options/options.h"
#include "runner/samplers/access/access_sampler.h"
#include "runner/samplers/sampler_part.h"
#include "runner/util/result.h"

namespace mlrun::samplers {

// The rungs that were chosen for --access. Made before the other parts of the run.
class AccessStart {
 public:
  // Tries the mechanisms in order. With `require`, fails if no rung can be used, if a named one cannot, or if event numbers are given and `precise`
  // cannot. Prints the problems, and how long windows of clear-refs and soft-dirty will delay page faults. nullptr: --access is off.
  static Result<std::unique_ptr<AccessStart>> settle(const AccessOptions& options);

  // Sets `access` of session.json: the rungs, and what is known of them so far. Written before the command runs too: without rungs the merger has no
  // accesses, also if mlrun is killed.
  void describe(nlohmann::json& session) const;

  // To be called when the command's process exists but has not executed the program.
  void attach(pid_t command);

 private:
  friend class AccessPart;
  std::unique_ptr<access::AccessSampler> sampler_;
  std::vector<access::TriedRung> tried_;
  std::string problem_;
};

class AccessPart : public SamplerPart {
 public:
  // Takes over `start`. The other arguments must outlive this object.
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
