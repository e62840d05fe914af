// SPDX-License-Identifier: Apache-2.0
// Rows under a heading: the first column gets the remaining width, the others are as wide as their widest cell.
#pragma once

#include <string>
#include <vector>

#include "runner/report/text/text_style.h"

namespace mlrun::report {

class TextTable {
 public:
  enum class Cut { kEnd, kFront };

  // Titles of all columns; those after the first are right-aligned.
  explicit TextTable(std::vector<std::string> titles, Cut cut = Cut::kEnd) : titles_(std::move(titles)), cut_(cut) {}

  // Cells without colour. Requires: as many as titles. A note is a line without cells.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void add_note(std::string text) { rows_.push_back({std::move(text)}); }
  // Prefix of the first column's cell, never cut.
  void add_indented(std::string indent, std::vector<std::string> cells);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text(const TextStyle& style) const;

 private:
  [[nodiscard]] std::string stacked(const TextStyle& style) const;

  std::vector<std::string> titles_;
  Cut cut_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::pair<size_t, std::string>> indents_;  // row, text
};

// " 3 of 52" for the title of a table that is cut; else empty.
[[nodiscard]] std::string of_text(size_t rows, size_t all);
// Adds a note that names the stored table with all rows, if a list of kRowsMost rows or more leaves some out. Shorter lists get no note.
void add_more(size_t rows, size_t all, const char* stored_table, TextTable& table);

}  // namespace mlrun::report
