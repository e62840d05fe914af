// SPDX-License-Identifier: Apache-2.0
// Stacks of Chrome's events: a frame in the document's stackFrames, where each frame names its parent, or a list of frames in the event.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class ChromeStacks {
 public:
  explicit ChromeStacks(TraceMaker& to) : to_(to) {}
  // Takes a member of stackFrames.
  Status learn(std::string_view key, std::string_view frame);
  // The event's stack; 0: none. If its frames follow later in the file, a number of TraceMaker::later_stack().
  int32_t of(const ChromeEvent& event);
  // Settles all stacks. To be called after the last frame.
  void settle();

 private:
  int32_t stack_of_array(std::string_view frames);
  int32_t stack_of_frame(const std::string& key);

  struct Frame {
    std::string name, category, parent;
    bool is_used = false;
  };
  TraceMaker& to_;
  JsonMembers members_;
  std::unordered_map<std::string, Frame> frames_;
  std::unordered_map<std::string, int32_t> later_;  // by key of the innermost frame
};

}  // namespace mlrun::exchange
