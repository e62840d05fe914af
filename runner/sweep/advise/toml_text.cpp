// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/toml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::sweep {

// A JSON string is a TOML string, except that TOML forbids one more character (DEL).
std::string toml_text(const std::string& text) {
  std::string result;
  for (const char byte : util::json_text(nlohmann::json(text)))
    result += byte == '\x7f' ? std::string("\\u007f") : std::string(1, byte);
  return result;
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(toml_text(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace mlrun::sweep
