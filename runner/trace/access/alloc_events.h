// SPDX-License-Identifier: Apache-2.0
// Reads the rows of `alloc` in order of AllocEvent::moment_ns(). Also the texts of allocation sites.
#pragma once

#include <memory>
#include <string>

#include "runner/model/trace_info.h"
#include "runner/trace/access/access_join.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class AllocEvents {
 public:
  // `folder`: of the trace or of a merge, with tables/ in it. If it has no table `alloc`, there are no events.
  static Result<AllocEvents> open(const std::string& folder);
  ~AllocEvents();
  AllocEvents(AllocEvents&&) noexcept;
  AllocEvents& operator=(AllocEvents&&) noexcept;

  // Sets `event` to the next row. False: there are no more rows.
  Result<bool> next(AllocEvent& event);

 private:
  struct State;
  explicit AllocEvents(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Text of a site: the functions of its stack, innermost first; without stacks library and offset.
std::string site_text(const model::TraceInfo& info, const AllocSite& site);

}  // namespace mlrun::trace
