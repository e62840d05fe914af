// SPDX-License-Identifier: Apache-2.0
// A text as a basic string of TOML, with its quotation marks. Invalid UTF-8 is replaced.
#pragma once

#include <string>

namespace mlrun::sweep {

std::string toml_text(const std::string& text);

}  // namespace mlrun::sweep
