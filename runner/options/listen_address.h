// SPDX-License-Identifier: Apache-2.0
// Where metrics are served: "[ADDRESS:]PORT".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/util/result.h"

namespace mlrun::monitor {

struct ListenAddress {
  std::string host = "127.0.0.1";  // local by default
  uint16_t port = 2112;            // 0: the system chooses one

  // "127.0.0.1:2112", "[::1]:2112".
  [[nodiscard]] std::string text() const;
};

// "2112", "0.0.0.0:2112", "[::]:2112", "host:2112"; "" gives the defaults above.
Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace mlrun::monitor
