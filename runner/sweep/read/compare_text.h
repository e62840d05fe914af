// SPDX-License-Identifier: Apache-2.0
// `compare` for a terminal: for each pair of cells the verdicts, those of the question first; the differences as a picture.
#pragma once

#include <string>
#include <vector>

#include "runner/report/text/text_style.h"
#include "runner/sweep/read/compared.h"
#include "runner/sweep/read/fail_if.h"

namespace mlrun::sweep {

// `figures`: those to show; empty: all.
std::string compare_text(const Compared& compared, const std::vector<std::string>& figures,
                         const std::vector<Judged>& judged, const report::TextStyle& style);

}  // namespace mlrun::sweep
