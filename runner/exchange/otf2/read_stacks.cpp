// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/read_stacks.h"

#include <algorithm>
#include <vector>

namespace mlrun::exchange {

namespace {

constexpr size_t kContextsOfStackMax = 4096;  // ends the search if a context is its own ancestor

}  // namespace

int32_t Otf2Stacks::stack(OTF2_CallingContextRef context, const Names& names, TraceMaker& to) {
  const auto [known, is_new] = known_.try_emplace(context, 0);
  if (!is_new) return known->second;
  std::vector<model::FrameRow> frames;
  for (auto found = contexts_.find(context); found != contexts_.end() && frames.size() < kContextsOfStackMax;
       found = contexts_.find(found->second.parent)) {
    model::FrameRow& frame = frames.emplace_back();
    frame.function = names.region(found->second.region);
    frame.state = model::FrameState::kNamed;
    if (const auto source = sources_.find(found->second.source); source != sources_.end()) {
      frame.source = names.text(source->second.file);
      frame.line = static_cast<int32_t>(std::min<uint32_t>(source->second.line, INT32_MAX));
    }
  }
  return known->second = to.stack(frames);
}

}  // namespace mlrun::exchange
