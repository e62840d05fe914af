// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/compare_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/sweep/read/picture.h"
#include "runner/sweep/read/quantity.h"

namespace mlrun::sweep {
namespace {

using report::TextStyle;
using Rows = std::vector<const ComparedRow*>;

constexpr size_t kColumnGap = 2, kAnyLine = 1000, kVerdictNeeds = 40;

std::string coloured(const Comparison& comparison, const std::string& text, const TextStyle& style) {
  if (!has_enough_runs(comparison)) return text;
  switch (comparison.verdict) {
    case Verdict::kDiffers: return style.bold(text);
    case Verdict::kEqual: return style.good(text);
    case Verdict::kCannotTell: break;
  }
  return text;
}

// Figure, both values, verdict. The verdict gets lines of its own where it does not fit beside them.
class VerdictLines {
 public:
  VerdictLines(const CellPair& pair, const TextStyle& style)
      : style_(style), titles_{"question", pair.base, pair.configuration} {
    constexpr size_t kWidest = 20;
    for (std::string& title : titles_) title = report::cut_front(util::printable(title), kWidest, style.glyphs);
  }

  [[nodiscard]] std::string text(const Rows& question, const Rows& exploratory) const {
    std::array<size_t, 3> widths{};
    for (size_t i = 0; i < 3; ++i) widths[i] = report::text_width(titles_[i]);
    for (const Rows* rows : {&question, &exploratory}) {
      for (const ComparedRow* row : *rows) {
        const Cells all = cells(*row);
        for (size_t i = 0; i < 3; ++i) widths[i] = std::max(widths[i], report::text_width(all[i]));
      }
    }
    std::string out = style_.dim(columns(titles_, widths)) + "\n";
    for (const ComparedRow* row : question) out += line(*row, widths);
    if (!exploratory.empty()) out += style_.dim("exploratory") + "\n";
    for (const ComparedRow* row : exploratory) out += line(*row, widths);
    return out;
  }

 private:
  using Cells = std::array<std::string, 3>;

  [[nodiscard]] Cells cells(const ComparedRow& row) const {
    return {row.figure, figure_text(row.figure, row.comparison.a, style_.glyphs),
            figure_text(row.figure, row.comparison.b, style_.glyphs)};
  }

  [[nodiscard]] std::string line(const ComparedRow& row, const std::array<size_t, 3>& widths) const {
    const size_t before = widths[0] + widths[1] + widths[2] + 3 * kColumnGap;
    const bool beside = before + kVerdictNeeds <= style_.width;
    const size_t indent = beside ? before : 2 * kColumnGap;
    std::string verdict = report::paragraph(verdict_text(row.comparison, style_.glyphs), indent, kAnyLine, style_);
    verdict.erase(0, indent);
    return columns(cells(row), widths) + (beside ? std::string(kColumnGap, ' ') : "\n" + std::string(indent, ' ')) +
           coloured(row.comparison, verdict, style_);
  }

  static std::string columns(const Cells& cells, const std::array<size_t, 3>& widths) {
    return report::pad_right(cells[0], widths[0]) + report::pad_left(cells[1], widths[1] + kColumnGap) +
           report::pad_left(cells[2], widths[2] + kColumnGap);
  }

  const TextStyle& style_;
  Cells titles_;
};

std::string sentence(const std::string& text, const TextStyle& style) {
  return report::paragraph(text, 2, kAnyLine, style);
}

// One line on how the intervals of a pair were computed. The number of runs is that of the first row: other rows differ only if runs lack
// their figure.
std::string how(const Rows& rows, const TextStyle& style) {
  std::set<std::string> methods;
  for (const ComparedRow* row : rows) {
    if (has_interval(row->comparison)) methods.insert(method_name(row->comparison.method));
  }
  if (methods.empty()) return "";
  const Comparison& first = rows.front()->comparison;
  const std::string runs = first.pairs > 0 ? fmt::format("{} pairs of runs", first.pairs)
                                           : fmt::format("{} against {} runs", first.n_b, first.n_a);
  return style.dim(sentence(fmt::format("95 % intervals of {} by {}", runs, fmt::join(methods, "; ")), style));
}

// Bars of the rows of one figure, named by `name_of(pair)`.
std::string picture(const Compared& compared, const Rows& rows, const std::string& title, const auto& name_of,
                    const TextStyle& style) {
  std::vector<NamedBar> all;
  for (const ComparedRow* row : rows) {
    if (!has_interval(row->comparison)) continue;
    all.push_back({name_of(compared.pairs[row->pair]), row->comparison.difference,
                   Interval{row->comparison.low, row->comparison.high}});
  }
  if (all.size() < 2) return "";
  return "\n" + style.dim(report::cut_end(util::printable(title), style.width, style.glyphs)) + "\n" +
         bars(all, 0.0, change_text, style);
}

// For each figure of the question: the configurations of each workload, else the workloads of the one configuration.
std::string pictures(const Compared& compared, const Rows& shown, const TextStyle& style) {
  std::map<std::string, Rows> figures;
  for (const ComparedRow* row : shown) {
    if (row->is_question) figures[row->figure].push_back(row);
  }
  std::string out;
  for (const auto& [figure, rows] : figures) {
    std::map<std::string, Rows> workloads;
    for (const ComparedRow* row : rows) workloads[compared.pairs[row->pair].workload].push_back(row);
    const std::string title = "difference in " + figure;
    if (workloads.size() == rows.size()) {
      out += picture(
          compared, rows, title, [](const CellPair& pair) { return pair.workload; }, style);
      continue;
    }
    for (const auto& [workload, own] : workloads) {
      const auto configuration = [](const CellPair& pair) { return pair.configuration; };
      out += picture(compared, own, title + ", " + workload, configuration, style);
    }
  }
  return out;
}

std::string conditions(const std::vector<Judged>& judged, const TextStyle& style) {
  std::string out;
  for (const Judged& one : judged) {
    const std::string interval = one.comparison != nullptr && has_interval(*one.comparison)
                                     ? changes_text(one.comparison->low, one.comparison->high)
                                     : "no interval";
    const std::string line =
        fmt::format("{}: {} ({}) {} against {}, {}", one.condition->text, outcome_name(one.outcome), interval,
                    one.pair->configuration, one.pair->base, one.pair->workload);
    const std::string text = report::paragraph(util::printable(line), 0, kAnyLine, style);
    switch (one.outcome) {
      case Outcome::kPasses: out += style.good(text); break;
      case Outcome::kFails: out += style.bad(text); break;
      case Outcome::kUndecided: out += style.warning(text); break;
    }
  }
  return out.empty() ? "" : "\n" + out;
}

}  // namespace

std::string compare_text(const Compared& compared, const std::vector<std::string>& figures,
                         const std::vector<Judged>& judged, const TextStyle& style) {
  std::string out;
  for (const std::string& warning : compared.warnings) {
    out += style.warning(report::paragraph(util::printable(warning), 0, kAnyLine, style));
  }
  Rows all;
  for (size_t i = 0; i < compared.pairs.size(); ++i) {
    const CellPair& pair = compared.pairs[i];
    Rows question, exploratory;
    for (const ComparedRow& row : compared.rows) {
      if (row.pair != i || (!figures.empty() && std::ranges::find(figures, row.figure) == figures.end())) continue;
      const bool is_nothing = row.comparison.a == 0 && row.comparison.b == 0 && figures.empty();
      if (row.is_question) question.push_back(&row);
      if (!row.is_question && !is_nothing) exploratory.push_back(&row);
    }
    const std::string head = fmt::format("{} against {}, {}", pair.configuration, pair.base, pair.workload);
    if (!out.empty()) out += '\n';
    out += style.bold(report::cut_end(util::printable(head), style.width, style.glyphs)) + "\n";
    const VerdictLines lines(pair, style);
    const bool has_rows = !question.empty() || !exploratory.empty();
    out += has_rows ? lines.text(question, exploratory) : sentence("no figure is known on both sides", style);
    question.insert(question.end(), exploratory.begin(), exploratory.end());
    out += how(question, style);
    all.insert(all.end(), question.begin(), question.end());
  }
  out += pictures(compared, all, style) + conditions(judged, style);
  if (compared.questions > 1) {
    out += "\n" +
           style.dim(report::paragraph(
               fmt::format("verdicts on the question are corrected for {} comparisons (Holm); exploratory ones are not",
                           compared.questions),
               0, kAnyLine, style));
  }
  return out;
}

}  // namespace mlrun::sweep
