// SPDX-License-Identifier: Apache-2.0
#include "runner/view/list.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/model/rows.h"
#include "runner/options/cli.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/text/terminal.h"
#include "runner/session/sweep_folder.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"
#include "runner/util/units.h"
#include "runner/view/verbs.h"

namespace mlrun::view {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListFooter =
    "Examples:\n"
    "  mlrun list                 in the current folder\n"
    "  mlrun list /scratch/runs\n"
    "  mlrun list --json | jq '.traces[] | select(.exit_status != 0).folder'\n"
    "\n"
    "complete: yes, nothing was lost and nothing is known to be unseen; no, see mlrun report; running; unfinished, see "
    "mlrun "
    "recover. A sweep (mlrun sweep) is a line of its own.\n"
    "JSON: {traces: [{folder, command, started (UTC), exit_status, wall_ns, bytes, complete}], sweeps: [{folder, "
    "bytes}]}, null where unknown.";

// Whether the coverage row is a remark: about activity without bytes or memory. Old traces have no level.
bool is_remark(const model::RunCoverage& coverage) { return coverage.level == model::kRemark; }

std::optional<bool> is_complete(const model::Run& run, TraceState state) {
  if (state != TraceState::kFinished) return false;
  const auto losses = run.total("losses");
  if (!losses || !run.coverage) return std::nullopt;
  return losses == 0 && std::all_of(run.coverage->begin(), run.coverage->end(), is_remark);
}

// A trace with an unreadable file gets a line without facts instead of an error, so that the other traces are listed.
ListedTrace look(const std::string& folder, std::string name, TraceState state) {
  const char* file = state == TraceState::kFinished ? "run.json" : MLRUN_SESSION_FILE;
  const auto text = util::read_file((fs::path(folder) / file).string());
  auto document = util::parse_json(text.value_or(""));
  if (!document.is_object()) document = nlohmann::json::object();
  ListedTrace trace;
  trace.name = std::move(name);
  trace.folder = fs::path(folder).lexically_normal().string();
  trace.state = state;
  trace.size_bytes = size_of(folder);
  if (const Status known = tables::check_schema_version(folder, document); !known) {
    trace.newer = known.error();
    return trace;
  }
  trace.run = model::run_of(std::move(document));
  trace.complete = is_complete(trace.run, state);
  trace.run.command = util::masked_arguments(trace.run.command);  // old traces have secrets
  return trace;
}

ListedTrace look_at_sweep(const fs::path& folder, std::string name) {
  ListedTrace sweep;
  sweep.name = std::move(name);
  sweep.folder = folder.lexically_normal().string();
  sweep.is_sweep = true;
  sweep.size_bytes = size_of(sweep.folder);
  return sweep;
}

std::string complete_text(const ListedTrace& trace) {
  if (trace.is_sweep) return "sweep";
  if (trace.state == TraceState::kRunning) return "running";
  if (trace.state == TraceState::kUnfinished) return "unfinished";
  return trace.complete ? *trace.complete ? "yes" : "no" : "-";
}

// The command without the folder of its program: this leaves room for the words in which traces differ.
std::string short_command(const std::string& command) {
  const size_t program_end = std::min(command.find(' '), command.size());
  const size_t slash = command.rfind('/', program_end);
  return slash == std::string::npos ? command : command.substr(slash + 1);
}

constexpr size_t kGap = 2, kCommandNeeds = 16;
constexpr std::array<const char*, 6> kTitles = {"FOLDER", "started", "time", "exit", "size", "complete"};
using Cells = std::array<std::string, kTitles.size()>;

Cells cells(const ListedTrace& trace, const report::TextStyle& style) {
  const auto& run = trace.run;
  return {util::printable(trace.name),
          run.clock.start.realtime_ns ? report::date_text(*run.clock.start.realtime_ns) : "-",
          run.duration_ns() ? util::time_text(*run.duration_ns(), style.glyphs) : "-",
          run.exit_status ? std::to_string(*run.exit_status) : "-",
          util::bytes_text(trace.size_bytes),
          complete_text(trace)};
}

// Lines of the list: the folder at the left, figures right-aligned, the command last because it may be long. In a narrow terminal the command gets a
// line of its own.
class TraceLines {
 public:
  TraceLines(const report::TextStyle& style, bool cut) : style_(style), cut_(cut) {}

  void add(const ListedTrace& trace) {
    rows_.push_back({cells(trace, style_), util::printable(short_command(trace.run.command_text())), {}});
  }
  void add_note(std::string note) { rows_.back().note = std::move(note); }

  [[nodiscard]] std::string text() const {
    std::array<size_t, kTitles.size()> widths{};
    for (size_t i = 0; i < kTitles.size(); ++i) widths[i] = report::text_width(kTitles[i]);
    for (const Row& row : rows_) {
      for (size_t i = 0; i < kTitles.size(); ++i) widths[i] = std::max(widths[i], report::text_width(row.cells[i]));
    }
    size_t figures = kGap * kTitles.size();
    for (const size_t width : widths) figures += width;
    if (cut_ && figures > style_.width) return stacked();
    const bool beside = !cut_ || figures + kCommandNeeds <= style_.width;
    std::string out = head(widths, beside) + "\n";
    for (const Row& row : rows_) out += lines(row, widths, beside ? figures : 0);
    return out;
  }

 private:
  struct Row {
    Cells cells;
    std::string command, note;
  };

  // For a narrow terminal: each trace as several lines.
  [[nodiscard]] std::string stacked() const {
    std::string out;
    for (const Row& row : rows_) {
      out += style_.bold(report::cut_front(row.cells[0], style_.width, style_.glyphs)) + "\n";
      std::vector<std::string> items;
      for (size_t i = 1; i < kTitles.size(); ++i) items.push_back(std::string(kTitles[i]) + " " + row.cells[i]);
      out += report::wrap("", 2 * kGap, items, style_);
      const std::string command = std::string(2 * kGap, ' ') + row.command;
      if (!row.command.empty()) out += report::cut_end(command, style_.width, style_.glyphs) + "\n";
      if (!row.note.empty()) out += style_.dim("  " + row.note) + "\n";
    }
    return out;
  }

  [[nodiscard]] std::string head(const std::array<size_t, kTitles.size()>& widths, bool beside) const {
    std::string line = report::pad_right(style_.bold(kTitles[0]), widths[0]);
    for (size_t i = 1; i < kTitles.size(); ++i) line += style_.dim(report::pad_left(kTitles[i], widths[i] + kGap));
    return beside ? line + std::string(kGap, ' ') + style_.dim("command") : line;
  }

  // `before`: number of characters before the command; 0: the command has its own line.
  [[nodiscard]] std::string lines(const Row& row, const std::array<size_t, kTitles.size()>& widths,
                                  size_t before) const {
    std::string out = report::pad_right(row.cells[0], widths[0]);
    for (size_t i = 1; i < kTitles.size(); ++i) out += report::pad_left(row.cells[i], widths[i] + kGap);
    out += before > 0 || row.command.empty() ? "" : "\n";
    const size_t indent = before > 0 ? before : 2 * kGap;
    const size_t room = style_.width > indent ? style_.width - indent : 1;
    const std::string command = cut_ ? report::cut_end(row.command, room, style_.glyphs) : row.command;
    if (!command.empty()) out += std::string(before > 0 ? kGap : indent, ' ') + command;
    return out + "\n" + (row.note.empty() ? "" : style_.dim("  " + row.note) + "\n");
  }

  const report::TextStyle& style_;
  bool cut_;
  std::vector<Row> rows_;
};

}  // namespace

Result<std::vector<ListedTrace>> traces_in(const std::string& folder) {
  std::vector<ListedTrace> traces;
  if (const TraceState own = state_of(folder); own != TraceState::kNone) {
    traces.push_back(look(folder, fs::path(folder).lexically_normal().string(), own));
    return traces;
  }
  if (session::is_sweep(folder))
    return std::vector{look_at_sweep(folder, fs::path(folder).lexically_normal().string())};
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const TraceState state = state_of(at->path().string());
    if (state != TraceState::kNone) {
      traces.push_back(look(at->path().string(), at->path().filename().string(), state));
    } else if (session::is_sweep(at->path().string())) {
      traces.push_back(look_at_sweep(at->path(), at->path().filename().string()));
    }
  }
  if (error)
    return fail("cannot read the folder " + folder + ": " + error.message() + "; give a folder that holds traces");
  std::sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return traces;
}

std::string list_text(const std::vector<ListedTrace>& traces, const std::string& folder, const report::TextStyle& style,
                      bool cut) {
  if (traces.empty()) return "no traces in " + util::printable(folder) + "\n";
  TraceLines table(style, cut);
  for (const ListedTrace& trace : traces) {
    table.add(trace);
    if (trace.is_sweep) {
      table.add_note("many runs: mlrun sweep stat " + util::printable(report::shell_word(trace.folder)));
    }
    if (trace.newer) table.add_note("written by a newer mlrun; read it with that version");
    if (trace.state == TraceState::kUnfinished) {
      table.add_note("finish it with: mlrun recover " + util::printable(trace.folder));
    }
  }
  return table.text();
}

std::string list_json(const std::vector<ListedTrace>& traces) {
  using Json = nlohmann::ordered_json;
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json list = Json::array(), sweeps = Json::array();
  for (const ListedTrace& trace : traces) {
    const auto& run = trace.run;
    if (trace.is_sweep) {
      sweeps.push_back({{"folder", util::escaped_utf8(trace.folder)}, {"bytes", trace.size_bytes}});
      continue;
    }
    list.push_back(
        {{"folder", util::escaped_utf8(trace.folder)},
         {"command", run.command.empty() ? Json() : Json(run.command_text())},
         {"started", run.clock.start.realtime_ns ? Json(util::utc_text(*run.clock.start.realtime_ns)) : Json()},
         {"exit_status", known(run.exit_status)},
         {"wall_ns", known(run.duration_ns())},
         {"bytes", trace.size_bytes},
         {"complete", known(trace.complete)}});
  }
  return util::json_text(Json{{"traces", std::move(list)}, {"sweeps", std::move(sweeps)}}, 2) + "\n";
}

Result<int> list(const Arguments& arguments) {
  std::string folder = ".";
  bool as_json = false;
  CLI::App app("Lists the traces and sweeps in a folder.", "list");
  set_usage(app, "mlrun list [OPTIONS] [DIR]");
  app.footer(kListFooter);
  app.add_option("DIR", folder, "folder that holds traces or sweeps (default: the current one)");
  app.add_flag("--json", as_json, "as JSON (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto traces = traces_in(folder);
  if (!traces) return tl::make_unexpected(traces.error());
  fmt::print("{}", as_json ? list_json(*traces)
                           : list_text(*traces, folder, report::style_of(stdout), report::is_terminal(stdout)));
  for (const ListedTrace& trace : *traces) {
    if (trace.newer) return tl::make_unexpected(*trace.newer);
  }
  return 0;
}

}  // namespace mlrun::view
