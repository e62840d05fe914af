// SPDX-License-Identifier: Apache-2.0
// Texts as basic strings of TOML, with their quotation marks. Invalid UTF-8 is replaced.
#pragma once

#include <string>
#include <vector>

namespace mlrun::sweep {

std::string toml_text(const std::string& text);

std::string toml_list(const std::vector<std::string>& texts);

}  // namespace mlrun::sweep
