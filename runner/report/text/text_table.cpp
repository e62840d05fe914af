// SPDX-License-Identifier: Apache-2.0
#include "runner/report/text/text_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "runner/report/text/text.h"

namespace mlrun::report {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kFirstColumnAtLeast = 16;

// Notes are never cut, since they may contain commands.
std::string note(const std::string& text, const TextStyle& style) {
  return style.dim(paragraph(style.with_trace(text), 0, std::numeric_limits<size_t>::max(), style));
}

}  // namespace

void TextTable::add_indented(std::string indent, std::vector<std::string> cells) {
  indents_.emplace_back(rows_.size(), std::move(indent));
  rows_.push_back(std::move(cells));
}

// For narrow terminals: each row as several lines, the name first, then each figure after its title.
std::string TextTable::stacked(const TextStyle& style) const {
  std::string out = style.bold(cut_end(titles_[0], style.width, style.glyphs)) + "\n";
  auto indent = indents_.begin();
  for (size_t r = 0; r < rows_.size(); ++r) {
    const auto& row = rows_[r];
    std::string lead;
    if (indent != indents_.end() && indent->first == r) lead = indent++->second;
    const size_t room = style.width - std::min(style.width, text_width(lead));
    const bool cuts_front = cut_ == Cut::kFront && row.size() > 1;
    const std::string name = cuts_front ? cut_front(row[0], room, style.glyphs) : cut_end(row[0], room, style.glyphs);
    out += row.size() == 1 ? note(row[0], style) : style.dim(lead) + name + "\n";
    std::vector<std::string> items;
    for (size_t i = 1; i < row.size(); ++i) {
      if (!row[i].empty()) items.push_back(titles_[i] + " " + row[i]);
    }
    out += wrap("", 2 * kGap, items, style);
  }
  return out;
}

std::string TextTable::text(const TextStyle& style) const {
  std::vector<size_t> widths;
  for (const std::string& title : titles_) widths.push_back(text_width(title));
  for (const auto& row : rows_) {
    for (size_t i = 1; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  size_t others = 0, first = text_width(titles_[0]);
  for (size_t i = 1; i < widths.size(); ++i) others += widths[i];
  for (const auto& row : rows_) first = std::max(first, row.size() > 1 ? text_width(row[0]) : 0);
  const size_t least = indents_.empty() ? std::min(first, kFirstColumnAtLeast) : kFirstColumnAtLeast;
  const bool is_tight = least + others + kGap * (widths.size() - 1) > style.width;
  const size_t gap = is_tight ? 1 : kGap;
  others += gap * (widths.size() - 1);
  if (least + others > style.width) return stacked(style);
  widths[0] = std::max(least, style.width - std::min(style.width, others));

  std::string head = pad_right(style.bold(cut_end(titles_[0], widths[0], style.glyphs)), widths[0]);
  for (size_t i = 1; i < titles_.size(); ++i) head += style.dim(pad_left(titles_[i], widths[i] + gap));
  std::string out = head + "\n";

  auto indent = indents_.begin();
  for (size_t r = 0; r < rows_.size(); ++r) {
    const auto& row = rows_[r];
    if (row.size() == 1) {
      out += note(row[0], style);
      continue;
    }
    std::string lead;
    if (indent != indents_.end() && indent->first == r) lead = indent++->second;
    const size_t room = widths[0] - std::min(widths[0], text_width(lead));
    const std::string name =
        cut_ == Cut::kFront ? cut_front(row[0], room, style.glyphs) : cut_end(row[0], room, style.glyphs);
    out += pad_right(style.dim(lead) + name, widths[0]);
    for (size_t i = 1; i < row.size(); ++i) out += pad_left(row[i], widths[i] + gap);
    out += '\n';
  }
  return out;
}

std::string of_text(size_t rows, size_t all) { return rows < all ? fmt::format("  {} of {}", rows, all) : ""; }

void add_more(size_t rows, size_t all, const char* stored_table, TextTable& table) {
  if (rows < kRowsMost || all <= rows) return;
  table.add_note(fmt::format("  others: mlrun show TRACE {}", stored_table));
}

}  // namespace mlrun::report
