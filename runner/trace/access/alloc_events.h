// SPDX-License-Identifier: Apache-2.0
// Reads the rows of `alloc` in order of AllocEvent::moment_ns(). Also the texts of allocation sites.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

// Passes all events to `join`, and the events and samples of other sources between them: take(until_ns) passes those up to that moment and returns a
// Status. Returns the moment of the last row of `alloc`; 0: there is none. folder: as of AllocEvents::open().
template <typename Join, typename Take>
Result<int64_t> join_events(const std::string& folder, Join& join, Take take) {
  auto events = AllocEvents::open(folder);
  if (!events) return tl::make_unexpected(events.error());
  int64_t last_ns = 0;
  for (AllocEvent event;;) {
    const auto next = events->next(event);
    if (!next) return tl::make_unexpected(next.error());
    if (!*next) break;
    if (Status taken = take(event.moment_ns()); !taken) return tl::make_unexpected(taken.error());
    join.add(event);
    last_ns = std::max(last_ns, event.moment_ns());
  }
  if (Status taken = take(std::numeric_limits<int64_t>::max()); !taken) return tl::make_unexpected(taken.error());
  return last_ns;
}

// Text of a site: the functions of its stack, innermost first; without stacks library and offset.
std::string site_text(const model::TraceInfo& info, const AllocSite& site);

}  // namespace mlrun::trace
