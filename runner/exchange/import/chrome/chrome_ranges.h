// SPDX-License-Identifier: Apache-2.0
// Makes a slice of two events that begin and end it: B and E of a thread, nestable asynchronous b and e, S and F, objects N and D. Events
// may come in any order of time, so they are sorted first; events of the same time keep the order of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/sorted_rows.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class ChromeRanges {
 public:
  explicit ChromeRanges(TraceMaker& to) : to_(to), ends_(to.staging(), size_t{48} << 20) {}

  [[nodiscard]] static bool is_one(char phase) {
    return std::string_view("BEbeSFND").find(phase) != std::string_view::npos;
  }
  // Whether an event of this phase ends a range that another event began.
  [[nodiscard]] static bool is_end(char phase) {
    return std::string_view("EeFD").find(phase) != std::string_view::npos;
  }
  // Requires: is_one(event.phase), and the event has a time. `origin`: of the event. `rest`: its members that have no column.
  Status add(const ChromeEvent& event, const model::Origin& origin, int32_t stack_id, const std::string& rest);
  // After the last event of the file: adds the ranges as slices.
  Status finish();

 private:
  struct End {
    model::Origin origin;
    int32_t stack_id = 0;
    char phase = 0;
  };
  struct Open {
    End end;
    std::string name, category, track, args, other;
  };
  using Stack = std::vector<Open>;

  Status take(const End& end, const SortedRows<End, 5>::Texts& texts);
  Status keep(const Open& open, int64_t end_ns, std::string_view more_args, std::string_view more_other);
  static std::string key_of(const End& end, const SortedRows<End, 5>::Texts& texts);

  TraceMaker& to_;
  SortedRows<End, 5> ends_;  // name, category, id, args, other
  std::unordered_map<std::string, Stack> open_;
  size_t opened_ = 0;
};

}  // namespace mlrun::exchange
