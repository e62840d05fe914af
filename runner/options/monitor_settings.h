// SPDX-License-Identifier: Apache-2.0
// Options of `mlrun monitor`, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/options/listen_address.h"

namespace mlrun::monitor {

struct Settings {
  uint64_t interval_ns = 2'000'000'000;
  uint64_t duration_ns = 0;             // 0: until a signal ends it
  std::optional<ListenAddress> listen;  // none: nothing is served
  std::string hostname;                 // value of the label hostname; "": this machine's name
  bool label_args = false;
  bool quiet = false;  // no table
};

}  // namespace mlrun::monitor
