// SPDX-License-Identifier: Apache-2.0
// Files by time. A tree of folders is one row.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"
#include "runner/util/saturating.h"

namespace mlrun::report {
namespace {

using summary::FileTree;

constexpr double kReadOver = 1.5;  // re-read ratios above it are shown

double reread_ratio(const FileTree& tree) {
  return tree.distinct_bytes > 0 ? double(tree.followed_bytes) / double(tree.distinct_bytes) : 0;
}

// Missing paths are mentioned if they are more than the files.
std::string files_name(const FileTree& tree) {
  if (tree.files == 0 && tree.missing == 0) return "";
  std::string out = tree.kind == "folder" && tree.folders > 1 ? counted(tree.folders, "folder") + ", " : "";
  out += counted(tree.files, "file");
  return tree.missing > tree.files ? out + fmt::format(", {} not there", util::count_text(tree.missing)) : out;
}

std::string tree_name(const FileTree& tree) {
  if (tree.kind == "imports") return "imports  " + files_name(tree);
  if (tree.kind == "rest") return "others  " + files_name(tree);
  if (tree.kind == "file") return printable(tree.path) + (tree.missing > 0 ? "  not there" : "");
  return fmt::format("{}/  {}", printable(tree.path == "/" ? "" : tree.path), files_name(tree));
}

std::string order_text(const FileTree& tree) {
  constexpr double kNearlyAll = 0.9;
  const auto all = double(util::sum_of(tree.sequential_bytes, tree.random_bytes));
  if (all == 0 || tree.kind == "imports") return "-";
  if (double(tree.sequential_bytes) >= kNearlyAll * all) return "in order";
  return double(tree.random_bytes) >= kNearlyAll * all ? "random" : "mixed";
}

std::string mean_read_text(const FileTree& tree) {
  const int64_t reads = tree.totals.read_calls - tree.end_checks;
  return reads > 0 && tree.totals.bytes_read > 0 ? util::bytes_text(tree.totals.bytes_read / reads) : "-";
}

class TreeTable {
 public:
  TreeTable(const std::vector<FileTree>& trees, const TextStyle& style)
      : style_(style),
        is_wide_(style.width >= 90),
        has_over_(std::any_of(trees.begin(), trees.end(), is_read_over)),
        table_(titles(), TextTable::Cut::kFront) {}

  void add(const FileTree& tree) {
    std::vector<std::string> cells{tree_name(tree), util::bytes_text(tree.totals.bytes_read)};
    if (is_wide_) cells.push_back(mean_read_text(tree));
    if (is_wide_) cells.push_back(order_text(tree));
    if (has_over_) cells.push_back(is_read_over(tree) ? fmt::format("{:.1f} x", reread_ratio(tree)) : "-");
    cells.push_back(tree.totals.bytes_written == 0 ? "-" : util::bytes_text(tree.totals.bytes_written));
    cells.push_back(util::time_text(tree.totals.time_ns, style_.glyphs));
    table_.add_indented("  ", std::move(cells));
  }
  void add_note(std::string text) { table_.add_note(std::move(text)); }
  [[nodiscard]] std::string text() const { return table_.text(style_); }

 private:
  static bool is_read_over(const FileTree& tree) {
    return (tree.kind == "file" || tree.kind == "folder") && reread_ratio(tree) > kReadOver;
  }
  [[nodiscard]] std::vector<std::string> titles() const {
    std::vector<std::string> titles{"FILES BY TIME", "read"};
    if (is_wide_) titles.insert(titles.end(), {"a read", "order"});
    if (has_over_) titles.emplace_back("re-read");
    titles.insert(titles.end(), {"written", "time"});
    return titles;
  }

  const TextStyle& style_;
  bool is_wide_, has_over_;
  TextTable table_;
};

}  // namespace

std::string trees_text(const Summary& summary, const TextStyle& style, size_t rows) {
  constexpr int64_t kLeastOfFiles = 100;  // a row has at least a hundredth of the time
  if (summary.trees.empty() || rows == 0) return "";
  FileTree imports, rest, all;
  for (const FileTree& tree : summary.trees) all.add(tree);
  rest.kind = "rest";
  std::vector<FileTree> shown;
  for (const FileTree& tree : summary.trees) {
    if (tree.kind == "imports") {
      imports = tree;
    } else if (tree.kind == "rest" || shown.size() + 1 >= rows ||
               tree.totals.time_ns < all.totals.time_ns / kLeastOfFiles) {
      rest.add(tree);
    } else {
      shown.push_back(tree);
    }
  }
  if (imports.totals.calls > 0) shown.push_back(imports);
  if (rest.totals.calls > 0) shown.push_back(rest);
  std::stable_sort(shown.begin(), shown.end(), [](const FileTree& a, const FileTree& b) {
    const bool a_rest = a.kind == "rest", b_rest = b.kind == "rest";
    return a_rest != b_rest ? b_rest : a.totals.time_ns > b.totals.time_ns;
  });
  TreeTable table(shown, style);
  for (const FileTree& tree : shown) table.add(tree);
  if (all.end_checks * 2 > all.totals.read_calls) {
    table.add_note(fmt::format("  {} of {} returned nothing: checks for the end of a file",
                               util::count_text(all.end_checks), counted(all.totals.read_calls, "read")));
  }
  return table.text();
}

}  // namespace mlrun::report
