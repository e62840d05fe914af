// SPDX-License-Identifier: Apache-2.0
// The process tree. Siblings of one role beyond the first few are folded, with their descendants, into one line of
// sums.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

using summary::ProcessSummary;

constexpr size_t kSiblingsShown = 3;  // of one role
constexpr size_t kMostLines = 9;
constexpr size_t kKilledShown = 4;

class Tree {
 public:
  Tree(const Summary& summary, const TextStyle& style) : style_(style), table_(titles(summary)) {
    for (const ProcessSummary& process : summary.processes) known_[process.proc_id] = true;
    for (const ProcessSummary& process : summary.processes) {
      children_[process.parent_proc_id != 0 && known_.contains(process.parent_proc_id) ? process.parent_proc_id : kRoot]
          .push_back(&process);
    }
    add_children(kRoot, "", true);
    add_rest();
  }

  [[nodiscard]] std::string text() const { return table_.text(style_); }

 private:
  using Group = std::vector<const ProcessSummary*>;
  // Not 0: rows of unknown processes count for process 0.
  static constexpr int32_t kRoot = -1;

  static std::vector<std::string> titles(const Summary& summary) {
    const bool of_window = summary.run.events_from_ns.has_value();
    return {"PROCESS TREE", "pid", "calls", "read", "written", "I/O time", of_window ? "new heap" : "heap peak"};
  }

  // Removes the children from the map, so that duplicate numbers in a damaged trace cannot loop.
  Group take_children(int32_t parent) {
    auto found = children_.extract(parent);
    return found.empty() ? Group{} : std::move(found.mapped());
  }

  // Children in order, grouped by role. A group is at the place of its first child.
  std::vector<Group> take_groups(int32_t parent) {
    std::vector<Group> out;
    for (const ProcessSummary* process : take_children(parent)) {
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.front()->role == process->role; });
      same == out.end() ? out.push_back({process}) : same->push_back(process);
    }
    return out;
  }

  void add_children(int32_t parent, const std::string& indent, bool root) {
    const auto all = take_groups(parent);
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
    const std::string plural = role == "child" ? "children" : role + "s";
    std::string name = fmt::format("{} {} more {}", style_.glyphs.pick("…", "..."), group.size(), plural);
    if (rest.processes > group.size()) name += fmt::format(" and {} below", rest.processes - group.size());
    table_.add_indented(lead, cells(std::move(name), "", rest.files, rest.heap_bytes));
  }

  struct Rest {
    size_t processes = 0;
    summary::Totals files;
    int64_t heap_bytes = 0;  // the largest heap peak
  };

  // Adds up a process and all its descendants; iterative, since the tree may be deep.
  void collect(const ProcessSummary& process, Rest& rest) {
    Group open{&process};
    while (!open.empty()) {
      const ProcessSummary& next = *open.back();
      open.pop_back();
      ++rest.processes;
      rest.files.add(next.files());
      rest.heap_bytes = std::max(rest.heap_bytes, next.heap_peak.bytes());
      const Group children = take_children(next.proc_id);
      open.insert(open.end(), children.begin(), children.end());
    }
  }

  void add_rest() {
    if (rest_.processes == 0) return;
    table_.add(cells(fmt::format("{} {} more processes", style_.glyphs.pick("…", "..."), rest_.processes), "",
                     rest_.files, rest_.heap_bytes));
  }

  std::vector<std::string> cells(std::string name, std::string pid, const summary::Totals& files,
                                 int64_t heap_bytes) const {
    return {std::move(name),
            std::move(pid),
            util::count_text(files.calls),
            util::bytes_text(files.bytes_read),
            util::bytes_text(files.bytes_written),
            util::time_text(files.time_ns, style_.glyphs),
            heap_bytes == 0 ? "-" : util::bytes_text(heap_bytes)};
  }

  std::string branch(bool last, bool root) const {
    if (root) return "";
    return last ? style_.glyphs.pick("└─ ", "`- ") : style_.glyphs.pick("├─ ", "|- ");
  }

  const TextStyle& style_;
  TextTable table_;
  std::unordered_map<int32_t, bool> known_;
  std::unordered_map<int32_t, Group> children_;
  size_t lines_ = 0;
  Rest rest_;
};

}  // namespace

namespace {

// Processes that ended in this way, the first ones by name. Without the command, whose status is in the summary's head.
std::string ended_in(const Summary& summary, const std::string& end, const std::string& title, const char* one,
                     const char* several, const TextStyle& style) {
  std::vector<std::string> named;
  size_t count = 0;
  for (const ProcessSummary& process : summary.processes) {
    if (process.end != end || process.role == "main" || ++count > kKilledShown) continue;
    named.push_back(fmt::format("{} ({})", process.pid, process.role));
  }
  if (count == 0) return "";
  std::vector<std::string> items = {count == 1 ? one : fmt::format("{} {}", count, several)};
  items.insert(items.end(), named.begin(), named.end());
  if (count > kKilledShown) items.push_back(fmt::format("{} more", count - kKilledShown));
  return wrap(title, 14, items, style);
}

}  // namespace

std::string ended_text(const Summary& summary, const TextStyle& style) {
  return ended_in(summary, "no exit", style.warning("KILLED"), "1 process was killed by a signal",
                  "processes were killed by a signal", style) +
         ended_in(summary, "no record", style.bold("ENDED"), "1 process ended without an exit record (how is unknown)",
                  "processes ended without an exit record (how is unknown)", style);
}

const ProcessSummary* find_process(const Summary& summary, int32_t proc_id) {
  const auto found = std::find_if(summary.processes.begin(), summary.processes.end(),
                                  [&](const ProcessSummary& one) { return one.proc_id == proc_id; });
  return found == summary.processes.end() ? nullptr : &*found;
}

std::string process_text(const ProcessSummary* process) {
  if (process == nullptr) return "unknown";
  return fmt::format("{} {}", process->role.empty() ? "process" : process->role, process->pid);
}

std::string processes_text(const Summary& summary, const TextStyle& style) {
  return summary.processes.empty() ? "" : Tree(summary, style).text() + ended_text(summary, style);
}

}  // namespace mlrun::report
