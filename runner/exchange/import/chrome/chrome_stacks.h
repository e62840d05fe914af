// SPDX-License-Identifier: Apache-2.0
// Stacks of Chrome's samples: by stackFrames of the document, each frame with its parent, or as a list of frames in the event.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class ChromeStacks {
 public:
  explicit ChromeStacks(TraceMaker& to) : to_(to) {}
  // A member of stackFrames.
  Status learn(std::string_view key, std::string_view frame);
  // A key in stackFrames, or an array of texts. 0: unknown.
  int32_t stack(std::string_view of);

 private:
  struct Frame {
    std::string name, category, parent;
  };
  TraceMaker& to_;
  JsonMembers members_;
  std::unordered_map<std::string, Frame> frames_;
};

}  // namespace mlrun::exchange
