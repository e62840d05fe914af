// SPDX-License-Identifier: Apache-2.0
// Directories and files: the first by bytes, then those of the slowest that are not among them. With page cache data, also how many bytes had to be
// fetched, including read-ahead.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using util::count_text;

constexpr size_t kDirectoriesByBytes = 2, kFilesByBytes = 3, kDirectoriesByTime = 1, kFilesByTime = 2;

// The first items by bytes, and those of the slowest that are not among them.
template <typename Item>
struct Choice {
  std::vector<const Item*> by_bytes, by_time;
};

// Requires: items in order of bytes.
template <typename Item>
Choice<Item> choose(const std::vector<Item>& items, size_t by_bytes, size_t by_time) {
  Choice<Item> out;
  std::vector<const Item*> slow;
  for (const Item& item : items) {
    if (out.by_bytes.size() < by_bytes && item.totals.bytes() > 0) out.by_bytes.push_back(&item);
    slow.push_back(&item);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const Item* a, const Item* b) { return a->totals.time_ns > b->totals.time_ns; });
  if (slow.size() > by_time) slow.erase(slow.begin() + std::ptrdiff_t(by_time), slow.end());
  for (const Item* item : slow) {
    const bool shown = std::find(out.by_bytes.begin(), out.by_bytes.end(), item) != out.by_bytes.end();
    if (!shown && item->totals.time_ns > 0) out.by_time.push_back(item);
  }
  return out;
}

class Places {
 public:
  Places(const Summary& summary, const TextStyle& style)
      : style_(style),
        has_misses_(std::any_of(summary.files.begin(), summary.files.end(),
                                [](const auto& file) { return file.misses.known(); })),
        table_(titles(summary), TextTable::Cut::kFront) {
    const auto directories = choose(summary.directories, kDirectoriesByBytes, kDirectoriesByTime);
    const auto files = choose(summary.files, kFilesByBytes, kFilesByTime);
    for (const auto* directory : directories.by_bytes) add(*directory);
    for (const auto* file : files.by_bytes) add(*file);
    if (directories.by_time.empty() && files.by_time.empty()) return;
    if (!table_.empty()) table_.add_note("slowest, not listed above:");
    for (const auto* directory : directories.by_time) add(*directory);
    for (const auto* file : files.by_time) add(*file);
  }

  [[nodiscard]] std::string text() const { return table_.text(style_); }

 private:
  [[nodiscard]] std::vector<std::string> titles(const Summary& summary) const {
    int64_t missing = 0;
    for (const summary::FileTree& tree : summary.trees) util::add_to(missing, tree.missing);
    const std::string not_there = missing == 0 ? "" : fmt::format(", {} not there", count_text(missing));
    std::vector<std::string> titles{
        fmt::format("DIRECTORIES ({}), FILES ({}{})", count_text(summary.directories_touched),
                    count_text(summary.files_touched - missing), not_there),
        "calls", "read"};
    if (has_misses_) titles.emplace_back("uncached");
    titles.insert(titles.end(), {"written", "time", "on"});
    return titles;
  }
  void add(const summary::FileSummary& file) { add(printable(file.path), file); }
  void add(const summary::DirectorySummary& directory) {
    const std::string slash = directory.path == "/" ? "" : "/";
    add(fmt::format("{}{}  {}", printable(directory.path), slash, counted(directory.files, "file")), directory);
  }
  template <typename Item>
  void add(std::string name, const Item& item) {
    std::vector<std::string> cells{std::move(name), count_text(item.totals.calls),
                                   util::bytes_text(item.totals.bytes_read)};
    if (has_misses_) cells.push_back(item.misses.known() ? util::bytes_text(item.misses.bytes()) : "-");
    cells.push_back(util::bytes_text(item.totals.bytes_written));
    cells.push_back(util::time_text(item.totals.time_ns, style_.glyphs));
    cells.push_back(item.file_system.empty() ? "-" : item.file_system);
    table_.add(std::move(cells));
  }

  const TextStyle& style_;
  bool has_misses_;
  TextTable table_;
};

}  // namespace

std::string files_text(const Summary& summary, const TextStyle& style) {
  return summary.files.empty() ? "" : Places(summary, style).text();
}

}  // namespace mlrun::report
