// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/local_time.h"

#include <ctime>

#include <fmt/format.h>

namespace mlrun::monitor {

std::string local_time() {
  const time_t now = std::time(nullptr);
  tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace mlrun::monitor
