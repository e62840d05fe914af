// SPDX-License-Identifier: Apache-2.0
// Aligned columns: moments in seconds, durations with a unit, addresses in hexadecimal, a dash for nulls.
// The first rows determine the widths; a wider value later shifts the rest of its row.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/view/row_output.h"

namespace mlrun::view {
namespace {

constexpr size_t kRowsThatDecide = 1000, kColumnGap = 2, kTextAtLeast = 20;

class TextOutput final : public RowOutput {
 public:
  TextOutput(std::vector<std::string> names, int64_t origin_ns, TextOptions options, Sink sink)
      : names_(std::move(names)), origin_ns_(origin_ns), options_(std::move(options)), sink_(std::move(sink)) {}

  void row(const std::vector<const Column*>& columns, int64_t row) override {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const Column* column : columns) cells.push_back(cell(*column, row));
    if (left_.empty()) {
      for (const Column* column : columns) left_.push_back(column->type() == Column::Type::kText);
    }
    if (headed_) return print(cells);
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == kRowsThatDecide) head();
  }

  void end() override {
    if (!headed_) head();
    if (left_out_.empty()) return;
    const std::string note = fmt::format("left out, the terminal is too narrow: {}; choose columns with --columns",
                                         fmt::join(left_out_, ", "));
    sink_(options_.style.dim(report::paragraph(note, 0, SIZE_MAX, options_.style)));
  }

 private:
  [[nodiscard]] std::string cell(const Column& column, int64_t row) const {
    if (column.is_null(row)) return "-";
    switch (column.type()) {
      case Column::Type::kText: return util::printable(column.text(row));
      case Column::Type::kBoolean: return column.boolean(row) ? "yes" : "no";
      case Column::Type::kReal: return fmt::format("{}", column.real(row));
      case Column::Type::kNumber: break;
    }
    const int64_t number = column.number(row);
    switch (column.meaning()) {
      case Meaning::kPlain: return std::to_string(number);
      case Meaning::kDuration: return util::time_text(number, options_.style.glyphs);
      case Meaning::kAddress: return fmt::format("{:#x}", uint64_t(number));
      case Meaning::kMoment: break;
    }
    return number == 0 ? "-" : seconds(number - origin_ns_);
  }

  static std::string seconds(int64_t ns) {
    const uint64_t size = ns < 0 ? -uint64_t(ns) : uint64_t(ns);
    return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  }

  void head() {
    headed_ = true;
    if (left_.empty()) left_.resize(names_.size(), true);
    choose_columns();
    std::string line;
    for (const size_t i : shown_) add(line, names_[i], i);
    finish(line, true);
    for (const auto& cells : waiting_) print(cells);
    waiting_.clear();
  }

  void choose_columns() {
    widths_.assign(names_.size(), 0);
    for (size_t i = 0; i < names_.size(); ++i) {
      const bool any =
          std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& cells) { return cells[i] != "-"; });
      if (!any && options_.drop_empty && !waiting_.empty()) continue;
      shown_.push_back(i);
      widths_[i] = report::text_width(names_[i]);
      for (const auto& cells : waiting_) widths_[i] = std::max(widths_[i], report::text_width(cells[i]));
    }
    if (options_.cut) fit();
  }

  // The smallest width that a row can have.
  [[nodiscard]] size_t least_width() const {
    size_t least = 0;
    for (const size_t i : shown_) least += kColumnGap + (left_[i] ? std::min(widths_[i], kTextAtLeast) : widths_[i]);
    return least - kColumnGap;
  }

  // Drops columns that do not fit, figures before texts, from the right; keeps the first one.
  void leave_out() {
    while (shown_.size() > 1 && least_width() > options_.style.width) {
      auto last = std::find_if(shown_.rbegin(), shown_.rend() - 1, [&](size_t i) { return !left_[i]; });
      if (last == shown_.rend() - 1) last = shown_.rbegin();
      left_out_.insert(left_out_.begin(), names_[*last]);
      shown_.erase(std::next(last).base());
    }
  }

  // Narrows the widest text column, one character at a time, until the row fits.
  void fit() {
    if (options_.drop_empty) leave_out();
    size_t whole = shown_.size() * kColumnGap;
    for (const size_t i : shown_) whole += widths_[i];
    for (; whole > options_.style.width + kColumnGap; --whole) {
      size_t widest = names_.size();
      for (const size_t i : shown_) {
        if (left_[i] && widths_[i] > kTextAtLeast && (widest == names_.size() || widths_[i] > widths_[widest]))
          widest = i;
      }
      if (widest == names_.size()) return;
      --widths_[widest];
    }
  }

  void add(std::string& line, const std::string& cell, size_t column) const {
    const bool too_wide = options_.cut && report::text_width(cell) > widths_[column];
    const std::string text = too_wide ? report::cut_front(cell, widths_[column], options_.style.glyphs) : cell;
    line += left_[column] ? report::pad_right(text, widths_[column]) : report::pad_left(text, widths_[column]);
    line += std::string(kColumnGap, ' ');
  }

  void print(const std::vector<std::string>& cells) {
    std::string line;
    for (const size_t i : shown_) add(line, cells[i], i);
    finish(line, false);
  }

  void finish(std::string& line, bool bold) {
    while (line.ends_with(' ')) line.pop_back();
    sink_((bold ? options_.style.bold(line) : line) + "\n");
  }

  std::vector<std::string> names_;
  int64_t origin_ns_;
  TextOptions options_;
  Sink sink_;
  std::vector<std::vector<std::string>> waiting_;  // rows kept until the widths are determined
  std::vector<bool> left_;                         // left-aligned
  std::vector<size_t> shown_, widths_;
  std::vector<std::string> left_out_;  // names of columns that were left out
  bool headed_ = false;
};

}  // namespace

std::unique_ptr<RowOutput> text_output(std::vector<std::string> names, int64_t origin_ns, TextOptions options,
                                       Sink sink) {
  return std::make_unique<TextOutput>(std::move(names), origin_ns, std::move(options), std::move(sink));
}

}  // namespace mlrun::view
