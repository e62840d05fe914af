// SPDX-License-Identifier: Apache-2.0
// Where the time of calls on files, and of the kernel's operations on files outside of calls, went: by run, kind, role,
// phase, and for the files with the most sleep.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::SplitSummary;

constexpr size_t kRolesShown = 4, kPhasesShown = 4, kFilesShown = 3;

// Rows of one scope. With by_name, processes of one role are added up; the order is that of each role's first row.
std::vector<SplitSummary> rows_of(const Summary& summary, const char* scope, bool by_name) {
  std::vector<SplitSummary> rows;
  for (const SplitSummary& row : summary.splits) {
    if (row.scope != scope) continue;
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const SplitSummary& other) { return by_name && other.name == row.name; });
    if (same == rows.end()) {
      rows.push_back(row);
      continue;
    }
    util::add_to(same->calls, row.calls);
    util::add_to(same->time_ns, row.time_ns);
    same->split.add(row.split);
  }
  return rows;
}

class Table {
 public:
  explicit Table(const TextStyle& style)
      : style_(style),
        table_(
            {"WHERE I/O TIME WENT", "I/O time", "own", "run queue", "vfs", "block queue", "device", "remote", "other"},
            TextTable::Cut::kFront) {}

  void add(const std::string& name, const SplitSummary& row) {
    const model::CallSplit& split = row.split;
    table_.add({name, util::time_text(row.time_ns, style_.glyphs), part(split.own_ns, row), part(split.runq_ns, row),
                part(split.vfs_ns, row), part(split.queue_ns, row), part(split.device_ns, row),
                part(split.remote_ns, row), part(split.wait_ns, row)});
  }
  void add_first(const std::vector<SplitSummary>& rows, size_t shown) {
    for (size_t i = 0; i < rows.size() && i < shown; ++i) add("  " + printable(rows[i].name), rows[i]);
    if (rows.size() > shown) {
      table_.add_note(fmt::format("  {} {} more", style_.glyphs.pick("…", "..."), rows.size() - shown));
    }
  }
  [[nodiscard]] std::string text() const { return table_.text(style_); }

 private:
  static std::string part(int64_t ns, const SplitSummary& row) {
    return ns == 0 ? "-" : util::percent_text(ns, row.time_ns);
  }
  const TextStyle& style_;
  TextTable table_;
};

}  // namespace

std::string splits_text(const Summary& summary, const TextStyle& style) {
  const auto run = rows_of(summary, "run", false);
  if (run.empty()) return "";
  Table table(style);
  const auto kinds = rows_of(summary, "kind", false);  // none in traces of earlier versions
  if (kinds.size() > 1) {
    table.add("all", run.front());
    table.add_first(kinds, summary::kSplitKinds);
  } else {
    table.add(summary.calls == 0 ? "all operations" : "all calls", run.front());
  }
  const auto roles = rows_of(summary, "process", true);
  if (roles.size() > 1) table.add_first(roles, kRolesShown);
  table.add_first(rows_of(summary, "phase", false), kPhasesShown);
  auto files = rows_of(summary, "file", false);
  std::erase_if(files, [](const SplitSummary& file) { return file.split.asleep_ns() == 0; });
  if (files.size() > kFilesShown) files.resize(kFilesShown);
  table.add_first(files, kFilesShown);
  return table.text();
}

}  // namespace mlrun::report
