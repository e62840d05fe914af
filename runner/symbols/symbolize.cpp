// SPDX-License-Identifier: Apache-2.0
#include "runner/symbols/symbolize.h"

#include <cstdlib>
#include <vector>

#include "runner/symbols/symbol_file.h"
#include "runner/util/text.h"

namespace mlrun::symbols {

namespace {

using model::FrameRow;
using model::FrameState;

FrameState state_of(Identity identity) {
  return identity == Identity::kMissing ? FrameState::kNoFile : FrameState::kChanged;
}

// The byte before a return address is looked up, since the return address itself may be in the next function.
void name(FrameRow& frame, SymbolFile& file) {
  if (file.identity() != Identity::kSame) {
    frame.state = state_of(file.identity());
    return;
  }
  const Place place = file.find(frame.offset - (frame.interrupted ? 0 : 1));
  frame.function = util::escaped_utf8(place.function);
  frame.source = util::escaped_utf8(place.source);
  frame.line = place.line;
  frame.state = frame.function.empty() ? FrameState::kNoSymbol : FrameState::kNamed;
}

}  // namespace

void symbolize(model::StackTable& stacks, int64_t recorded_ns) {
  ::unsetenv("DEBUGINFOD_URLS");  // keeps libdw from asking debuginfod servers
  std::vector<std::vector<FrameRow*>> by_file(stacks.files.size());
  for (FrameRow& frame : stacks.frames) {
    if (frame.file != 0) by_file[frame.file - 1].push_back(&frame);
  }
  for (size_t i = 0; i < by_file.size(); ++i) {
    if (by_file[i].empty()) continue;
    SymbolFile file(util::unescaped_utf8(stacks.files[i].path), stacks.files[i].build_id, recorded_ns);
    for (FrameRow* frame : by_file[i]) name(*frame, file);
  }
}

}  // namespace mlrun::symbols
