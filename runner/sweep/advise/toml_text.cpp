// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/toml_text.h"

#include <nlohmann/json.hpp>

namespace mlrun::sweep {

// A JSON string is a TOML string, except that TOML forbids one more character (DEL).
std::string toml_text(const std::string& text) {
  std::string result;
  for (const char byte : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    result += byte == '\x7f' ? std::string("\\u007f") : std::string(1, byte);
  return result;
}

}  // namespace mlrun::sweep
