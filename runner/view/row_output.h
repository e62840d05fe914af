// SPDX-License-Identifier: Apache-2.0
// Output of `show`: text, CSV, or JSON. Create one, feed it row by row, end it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/report/text/text_style.h"
#include "runner/view/column.h"

namespace mlrun::view {

using Sink = std::function<void(std::string_view)>;

class RowOutput {
 public:
  virtual ~RowOutput() = default;
  RowOutput() = default;
  RowOutput(const RowOutput&) = delete;
  RowOutput& operator=(const RowOutput&) = delete;

  // Outputs one row of the batch that the columns are bound to.
  virtual void row(const std::vector<const Column*>& columns, int64_t row) = 0;
  virtual void end() = 0;
};

struct TextOptions {
  report::TextStyle style;
  bool cut = false;         // cut rows to the style's width
  bool drop_empty = false;  // drop columns without any value, and with `cut` those that do not fit
};

// origin_ns: the time from which moments count; 0: absolute.
std::unique_ptr<RowOutput> text_output(std::vector<std::string> names, int64_t origin_ns, TextOptions options,
                                       Sink sink);
// keeps_formulas: texts that a spreadsheet would execute are not changed.
std::unique_ptr<RowOutput> csv_output(const std::vector<std::string>& names, int64_t origin_ns, bool keeps_formulas,
                                      Sink sink);
std::unique_ptr<RowOutput> json_output(const std::vector<std::string>& names, int64_t origin_ns,
                                       Sink sink);  // one object per line

}  // namespace mlrun::view
