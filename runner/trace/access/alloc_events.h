// SPDX-License-Identifier: Apache-2.0
// The rows of `alloc` in the order of their moments, and the names of their sites.
#pragma once

#include <memory>
#include <string>

#include "runner/model/trace_info.h"
#include "runner/trace/access/access_join.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class AllocEvents {
 public:
  // `folder`: with the table's folder in it. Without the table there are no events.
  static Result<AllocEvents> open(const std::string& folder);
  ~AllocEvents();
  AllocEvents(AllocEvents&&) noexcept;
  AllocEvents& operator=(AllocEvents&&) noexcept;

  // False: there are no more.
  Result<bool> next(AllocEvent& event);

 private:
  struct State;
  explicit AllocEvents(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The functions of its stack, innermost first; without stacks library and offset.
std::string site_text(const model::TraceInfo& info, const AllocSite& site);

}  // namespace mlrun::trace
