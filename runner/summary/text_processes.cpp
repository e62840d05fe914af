// SPDX-License-Identifier: Apache-2.0
// The process tree. Brothers of one role beyond the first few, with all below them, become one line with their sums.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/summary/text.h"
#include "runner/summary/text_table.h"

namespace mlrun::summary {
namespace {

constexpr size_t kSiblingsShown = 3;  // of one role
constexpr size_t kMostLines = 9;

class Tree {
 public:
  Tree(const Summary& summary, const TextStyle& style) : style_(style), table_(titles()) {
    for (const ProcessSummary& process : summary.processes) known_[process.proc_id] = true;
    for (const ProcessSummary& process : summary.processes) {
      children_[known_.contains(process.parent_proc_id) ? process.parent_proc_id : 0].push_back(&process);
    }
    add_children(0, "", true);
    add_rest();
  }

  [[nodiscard]] std::string text() const { return table_.text(style_); }

 private:
  using Group = std::vector<const ProcessSummary*>;

  static std::vector<std::string> titles() {
    return {"PROCESSES", "pid", "calls", "read", "written", "I/O time", "heap peak"};
  }

  // Children in order, those of one role together where the first of them stands.
  std::vector<Group> groups(int32_t parent) const {
    std::vector<Group> out;
    const auto found = children_.find(parent);
    if (found == children_.end()) return out;
    for (const ProcessSummary* process : found->second) {
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.front()->role == process->role; });
      same == out.end() ? out.push_back({process}) : same->push_back(process);
    }
    return out;
  }

  void add_children(int32_t parent, const std::string& indent, bool root) {
    const auto all = groups(parent);
    for (size_t g = 0; g < all.size(); ++g) {
      const Group& group = all[g];
      const size_t shown = group.size() > kSiblingsShown + 1 ? kSiblingsShown : group.size();
      for (size_t i = 0; i < shown; ++i) {
        const bool last = g + 1 == all.size() && i + 1 == group.size();
        add_process(*group[i], indent, last, root);
      }
      if (shown < group.size()) {
        fold({group.begin() + std::ptrdiff_t(shown), group.end()}, indent + branch(g + 1 == all.size(), root),
             group.front()->role);
      }
    }
  }

  void add_process(const ProcessSummary& process, const std::string& indent, bool last, bool root) {
    if (lines_ >= kMostLines) return collect(process, rest_);
    ++lines_;
    std::string name = process.role;
    const bool tells = process.role == "main" || process.role == "child" || process.role.starts_with("rank ");
    if (tells && !process.command.empty()) name += "  " + printable(process.command);
    table_.add_indented(indent + branch(last, root), cells(std::move(name), std::to_string(process.pid),
                                                           process.files(), process.heap_peak.bytes()));
    add_children(process.proc_id, indent + (root ? "" : last ? "   " : style_.glyphs.pick("│  ", "|  ")), false);
  }

  void fold(const Group& group, const std::string& lead, const std::string& role) {
    Rest rest;
    for (const ProcessSummary* process : group) collect(*process, rest);
    ++lines_;
    std::string name = fmt::format("{} {} more {}s", style_.glyphs.pick("…", "..."), group.size(), role);
    if (rest.processes > group.size()) name += fmt::format(" and {} below", rest.processes - group.size());
    table_.add_indented(lead, cells(std::move(name), "", rest.files, rest.heap_bytes));
  }

  struct Rest {
    size_t processes = 0;
    Totals files;
    int64_t heap_bytes = 0;  // the largest
  };

  void collect(const ProcessSummary& process, Rest& rest) const {
    ++rest.processes;
    rest.files.add(process.files());
    rest.heap_bytes = std::max(rest.heap_bytes, process.heap_peak.bytes());
    if (const auto found = children_.find(process.proc_id); found != children_.end()) {
      for (const ProcessSummary* child : found->second) collect(*child, rest);
    }
  }

  void add_rest() {
    if (rest_.processes == 0) return;
    table_.add(cells(fmt::format("{} {} more processes", style_.glyphs.pick("…", "..."), rest_.processes), "",
                     rest_.files, rest_.heap_bytes));
  }

  std::vector<std::string> cells(std::string name, std::string pid, const Totals& files, int64_t heap_bytes) const {
    return {std::move(name),
            std::move(pid),
            count_text(files.calls),
            bytes_text(files.bytes_read),
            bytes_text(files.bytes_written),
            time_text(files.time_ns, style_.glyphs),
            heap_bytes == 0 ? "-" : bytes_text(heap_bytes)};
  }

  std::string branch(bool last, bool root) const {
    if (root) return "";
    return last ? style_.glyphs.pick("└─ ", "`- ") : style_.glyphs.pick("├─ ", "|- ");
  }

  const TextStyle& style_;
  TextTable table_;
  std::unordered_map<int32_t, bool> known_;
  std::unordered_map<int32_t, Group> children_;  // 0: roots
  size_t lines_ = 0;
  Rest rest_;
};

}  // namespace

std::string processes_text(const Summary& summary, const TextStyle& style) {
  return summary.processes.empty() ? "" : Tree(summary, style).text();
}

}  // namespace mlrun::summary
