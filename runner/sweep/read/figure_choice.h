// SPDX-License-Identifier: Apache-2.0
// Figures as users name them.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::sweep {

// The known figure of this name, which may leave the unit out: "wall" for wall_s. `option` is for the error's text.
Result<std::string> find_figure(const std::string& name, const std::vector<std::string>& known,
                                const std::string& option);

// All of them, without repetitions.
Result<std::vector<std::string>> find_figures(const std::vector<std::string>& names,
                                              const std::vector<std::string>& known, const std::string& option);

// "; did you mean \"x\"?" or the known words: the end of an error's text.
std::string known_words(const std::string& word, const std::vector<std::string>& known);

}  // namespace mlrun::sweep
