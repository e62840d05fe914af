// SPDX-License-Identifier: Apache-2.0
#include "runner/view/list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "runner/cli.h"
#include "runner/events/session.h"
#include "runner/summary/text_table.h"
#include "runner/summary/units.h"
#include "runner/trace/trace_condition.h"
#include "runner/util/file_io.h"
#include "runner/view/terminal.h"
#include "runner/view/verbs.h"

namespace mlrun::view {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  mlrun list                 in the current folder\n"
    "  mlrun list /scratch/runs\n";

// An unreadable file makes a line without facts, not an error: the other traces matter as well.
ListedTrace look(const std::string& folder, std::string name, TraceState state) {
  const char* file = state == TraceState::kFinished ? "run.json" : MLRUN_SESSION_FILE;
  const auto text = util::read_file((fs::path(folder) / file).string());
  auto run = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!run.is_object()) run = nlohmann::json::object();
  ListedTrace trace{std::move(name), state, {}, size_of(folder)};
  if (const Status known = trace::check_schema_version(folder, run); known) {
    trace.run = summary::run_facts(run);
  } else {
    trace.newer = known.error();
  }
  return trace;
}

std::string losses_text(const ListedTrace& trace) {
  if (!trace.run.losses) return "-";
  return *trace.run.losses == 0 ? "none" : summary::count_text(*trace.run.losses);
}

std::string status_text(const ListedTrace& trace) {
  return trace.run.exit_status ? fmt::format("exit {}", *trace.run.exit_status) : "-";
}

// The command without the folder of its program, which would push the words that tell traces apart off the line.
std::string short_command(const std::string& command) {
  const size_t program_end = std::min(command.find(' '), command.size());
  const size_t slash = command.rfind('/', program_end);
  return slash == std::string::npos ? command : command.substr(slash + 1);
}

std::vector<std::string> cells(const ListedTrace& trace, const summary::TextStyle& style) {
  const auto& run = trace.run;
  const std::string command = run.command.empty() ? "" : "  " + summary::printable(short_command(run.command));
  return {summary::printable(trace.name) + command,
          run.start_realtime_ns ? summary::date_text(*run.start_realtime_ns) : "-",
          run.wall_ns ? summary::time_text(*run.wall_ns, style.glyphs) : "-",
          status_text(trace),
          run.events && !run.summary_only ? summary::count_text(*run.events) : "-",  // these are added up
          losses_text(trace),
          summary::bytes_text(trace.size_bytes)};
}

}  // namespace

Result<std::vector<ListedTrace>> traces_in(const std::string& folder) {
  std::vector<ListedTrace> traces;
  if (const TraceState own = state_of(folder); own != TraceState::kNone) {
    traces.push_back(look(folder, fs::path(folder).lexically_normal().string(), own));
    return traces;
  }
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const TraceState state = state_of(at->path().string());
    if (state != TraceState::kNone) traces.push_back(look(at->path().string(), at->path().filename().string(), state));
  }
  if (error)
    return fail("cannot read the folder " + folder + ": " + error.message() + "; give a folder that holds traces");
  std::sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return traces;
}

std::string list_text(const std::vector<ListedTrace>& traces, const std::string& folder,
                      const summary::TextStyle& style) {
  if (traces.empty()) return "no traces in " + summary::printable(folder) + "\n";
  summary::TextTable table({"TRACE  command", "begun", "wall", "status", "events", "lost", "size"});
  for (const ListedTrace& trace : traces) {
    table.add(cells(trace, style));
    if (trace.newer) table.add_note("  cannot be read by this mlrun");
    if (trace.state == TraceState::kRunning) table.add_note("  still running");
    if (trace.state == TraceState::kUnfinished) {
      const fs::path path =
          traces.size() == 1 && trace.name == folder ? fs::path(folder) : fs::path(folder) / trace.name;
      table.add_note("  not finished; finish it with: mlrun recover " +
                     summary::printable(path.lexically_normal().string()));
    }
  }
  return table.text(style);
}

Result<int> list(const Arguments& arguments) {
  std::string folder = ".";
  CLI::App app("Lists the traces in a folder.", "list");
  set_usage(app, "mlrun list [DIR]");
  app.footer(kFooter);
  app.add_option("DIR", folder, "folder that holds traces (.)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto traces = traces_in(folder);
  if (!traces) return tl::make_unexpected(traces.error());
  fmt::print("{}", list_text(*traces, folder, style_of(stdout)));
  for (const ListedTrace& trace : *traces) {
    if (trace.newer) return tl::make_unexpected(*trace.newer);
  }
  return 0;
}

}  // namespace mlrun::view
