// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlrun::sweep {
namespace {

using report::TextStyle;

constexpr size_t kGap = 2, kWidestName = 24, kBandLines = 4, kWidestPicture = 120;

// Long names are cut at the front: configuration names differ at their ends.
std::string label(const std::string& name, size_t width, const TextStyle& style) {
  return report::pad_right(report::cut_front(util::printable(name), width, style.glyphs), width);
}

size_t label_width(const auto& all, const TextStyle& style) {
  size_t widest = 0;
  for (const auto& each : all) widest = std::max(widest, report::text_width(util::printable(each.name)));
  return std::min({widest, kWidestName, style.width / 3});
}

struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
  // From 0 to steps - 1.
  [[nodiscard]] size_t step(double value, size_t steps) const {
    if (!(high > low)) return steps / 2;
    const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
    return std::min(steps - 1, static_cast<size_t>(std::lround(share * double(steps - 1))));
  }
};

// The line below a picture with the ends of its scale; "LOW ... HIGH" where they are equal or do not fit.
std::string axis(const std::string& low, const std::string& high, size_t indent, size_t width, const TextStyle& style) {
  const size_t low_width = report::text_width(low), high_width = report::text_width(high);
  std::string line(indent, ' ');
  if (low == high || low_width + kGap + high_width > width) return style.dim(line + low + " ... " + high) + "\n";
  return style.dim(line + low + std::string(width - low_width - high_width, ' ') + high) + "\n";
}

// A grid of dots: 2 × 4 of them in a character with Unicode (Braille), 1 × 1 without.
class DotGrid {
 public:
  DotGrid(size_t columns, size_t lines, bool unicode)
      : unicode_(unicode), columns_(columns), lines_(lines), cells_(columns * lines) {}
  [[nodiscard]] size_t width() const { return columns_ * (unicode_ ? 2 : 1); }
  [[nodiscard]] size_t height() const { return lines_ * (unicode_ ? 4 : 1); }

  // y: 0 is the lowest.
  void set(size_t x, size_t y) {
    static constexpr uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const size_t from_top = height() - 1 - y;
    if (unicode_) {
      cells_[from_top / 4 * columns_ + x / 2] |= kBits[from_top % 4][x % 2];
    } else {
      cells_[from_top * columns_ + x] = 1;
    }
  }

  [[nodiscard]] std::string line(size_t index) const {
    std::string out;
    for (size_t x = 0; x < columns_; ++x) {
      const uint8_t bits = cells_[index * columns_ + x];
      if (!unicode_ || bits == 0) {
        out += bits == 0 ? ' ' : 'o';
        continue;
      }
      constexpr unsigned kBraille = 0x2800;
      const unsigned code = kBraille + bits;
      out += {char(0xe0 | code >> 12), char(0x80 | (code >> 6 & 0x3f)), char(0x80 | (code & 0x3f))};
    }
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }

 private:
  bool unicode_;
  size_t columns_, lines_;
  std::vector<uint8_t> cells_;
};

}  // namespace

std::string dots(const std::vector<NamedSeries>& all, const ValueText& value_text, const TextStyle& style) {
  Scale values;
  int32_t first = std::numeric_limits<int32_t>::max(), last = 0;
  for (const NamedSeries& each : all) {
    for (const Observation& one : each.series) {
      values.include(one.value);
      first = std::min(first, one.position);
      last = std::max(last, one.position);
    }
  }
  if (values.empty()) return "";
  const std::string low = value_text(values.low), high = value_text(values.high);
  const size_t names = std::max({label_width(all, style), report::text_width(low), report::text_width(high)});
  const size_t room = std::min(kWidestPicture, style.width - std::min(style.width - 1, names + kGap));
  const size_t positions = size_t(last - first) + 1;
  const size_t columns = std::min(room, style.glyphs.unicode ? (positions + 1) / 2 : positions);
  std::string out;
  for (const NamedSeries& each : all) {
    DotGrid grid(columns, kBandLines, style.glyphs.unicode);
    for (const Observation& one : each.series) {
      if (!std::isfinite(one.value)) continue;
      const size_t at = size_t(one.position - first);
      grid.set(positions <= grid.width() ? at : at * grid.width() / positions, values.step(one.value, grid.height()));
    }
    for (size_t line = 0; line < kBandLines; ++line) {
      const std::string left = line == 0                ? style.dim(report::pad_right(high, names))
                               : line == kBandLines - 1 ? style.dim(report::pad_right(low, names))
                               : line == 1              ? label(each.name, names, style)
                                                        : std::string(names, ' ');
      out += left + style.dim(style.glyphs.pick("│", "|")) + grid.line(line) + "\n";
    }
  }
  return out;
}

std::string bars(const std::vector<NamedBar>& all, std::optional<double> zero, const ValueText& value_text,
                 const TextStyle& style) {
  Scale values;
  for (const NamedBar& bar : all) {
    values.include(bar.centre);
    if (!bar.interval) continue;
    values.include(bar.interval->low);
    values.include(bar.interval->high);
  }
  if (values.empty()) return "";
  if (zero) values.include(*zero);
  const size_t names = label_width(all, style);
  const size_t width = std::min(kWidestPicture / 2, style.width - std::min(style.width - 1, names + kGap));
  const auto glyph = [&](const char* unicode, const char* ascii) {
    return std::string(style.glyphs.pick(unicode, ascii));
  };
  std::string out;
  for (const NamedBar& bar : all) {
    std::vector<std::string> cells(width, " ");
    if (zero) cells[values.step(*zero, width)] = style.dim(glyph("┊", ":"));
    if (bar.interval) {
      const size_t from = values.step(bar.interval->low, width), to = values.step(bar.interval->high, width);
      for (size_t x = from; x <= to; ++x) cells[x] = glyph("─", "-");
      cells[from] = glyph("├", "|");
      cells[to] = glyph("┤", "|");
    }
    if (std::isfinite(bar.centre)) cells[values.step(bar.centre, width)] = glyph("●", "o");
    while (!cells.empty() && cells.back() == " ") cells.pop_back();
    out += label(bar.name, names, style) + std::string(kGap, ' ');
    for (const std::string& cell : cells) out += cell;
    out += '\n';
  }
  return out + axis(value_text(values.low), value_text(values.high), names + kGap, width, style);
}

}  // namespace mlrun::sweep
