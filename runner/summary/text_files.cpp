// SPDX-License-Identifier: Apache-2.0
// Files and directories: the first by bytes, then those of the first by time that are not among them.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/summary/text.h"
#include "runner/summary/text_table.h"

namespace mlrun::summary {
namespace {

constexpr size_t kFilesByBytes = 4, kFilesByTime = 3, kDirectoriesByBytes = 3, kDirectoriesByTime = 1;

template <typename Item>
void add_rows(const std::vector<Item>& items, size_t by_bytes, size_t by_time, TextTable& table, const TextStyle& style,
              auto cells) {
  std::vector<const Item*> shown, slow;
  for (const Item& item : items) {
    slow.push_back(&item);
    if (shown.size() < by_bytes && item.totals.bytes() > 0) shown.push_back(&item);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const Item* a, const Item* b) { return a->totals.time_ns > b->totals.time_ns; });
  for (const Item* item : shown) table.add(cells(*item));
  if (shown.empty()) by_time += by_bytes;
  bool headed = shown.empty();
  for (size_t i = 0; i < slow.size() && i < by_time; ++i) {
    if (slow[i]->totals.time_ns == 0 || std::find(shown.begin(), shown.end(), slow[i]) != shown.end()) continue;
    if (!headed) table.add_note(style.glyphs.pick("slow besides:", "slow besides:"));
    headed = true;
    table.add(cells(*slow[i]));
  }
}

std::vector<std::string> cells(const std::string& name, const std::string& file_system, const Totals& totals,
                               const TextStyle& style) {
  return {printable(name),
          count_text(totals.calls),
          bytes_text(totals.bytes_read),
          bytes_text(totals.bytes_written),
          time_text(totals.time_ns, style.glyphs),
          file_system.empty() ? "-" : file_system};
}

}  // namespace

std::string files_text(const Summary& summary, const TextStyle& style) {
  if (summary.files.empty()) return "";
  TextTable table({fmt::format("FILES  first of {} by bytes", count_text(summary.files_touched)), "calls", "read",
                   "written", "time", "on"},
                  TextTable::Cut::kFront);
  add_rows(summary.files, kFilesByBytes, kFilesByTime, table, style,
           [&](const FileSummary& file) { return cells(file.path, file.file_system, file.totals, style); });
  return table.text(style);
}

std::string directories_text(const Summary& summary, const TextStyle& style) {
  if (summary.directories.empty()) return "";
  TextTable table({fmt::format("DIRECTORIES  first of {} by bytes", count_text(summary.directories_touched)), "files",
                   "calls", "read", "written", "time", "on"},
                  TextTable::Cut::kFront);
  add_rows(summary.directories, kDirectoriesByBytes, kDirectoriesByTime, table, style,
           [&](const DirectorySummary& directory) {
             auto row = cells(directory.path, directory.file_system, directory.totals, style);
             row.insert(row.begin() + 1, count_text(directory.files));
             return row;
           });
  return table.text(style);
}

}  // namespace mlrun::summary
