// SPDX-License-Identifier: Apache-2.0
// Where the rows of `show` go: text for people, CSV, or JSON. One of them is made, fed row by row, and ended.
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

  // A row of the batch that the columns are bound to.
  virtual void row(const std::vector<const Column*>& columns, int64_t row) = 0;
  virtual void end() = 0;
};

struct TextOptions {
  summary::TextStyle style;
  bool cut = false;         // rows at the style's width
  bool drop_empty = false;  // columns that have no value in any row, and with `cut` those that have no room
};

// origin_ns: what moments are counted from; 0: absolute.
std::unique_ptr<RowOutput> text_output(std::vector<std::string> names, int64_t origin_ns, TextOptions options,
                                       Sink sink);
// keeps_formulas: texts stay as they are that a spreadsheet would execute.
std::unique_ptr<RowOutput> csv_output(const std::vector<std::string>& names, int64_t origin_ns, bool keeps_formulas,
                                      Sink sink);
std::unique_ptr<RowOutput> json_output(const std::vector<std::string>& names, int64_t origin_ns,
                                       Sink sink);  // an object a line

}  // namespace mlrun::view
