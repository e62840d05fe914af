// SPDX-License-Identifier: Apache-2.0
// report: prints the summary of a trace. Reads only small tables, whatever the size of the trace.
#include <filesystem>

#include <fmt/format.h>

#include "runner/options/cli.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/json/json.h"
#include "runner/report/text/text.h"
#include "runner/summary/tables/tables.h"
#include "runner/util/units.h"
#include "runner/view/terminal.h"
#include "runner/view/trace_state.h"
#include "runner/view/verbs.h"

namespace mlrun::view {
namespace {

constexpr const char* kReportFooter =
    "Examples:\n"
    "  mlrun report mlrun-train-1\n"
    "  mlrun report mlrun-train-1 --json | jq .reread.ratio\n"
    "\n"
    "The keys of the JSON text are explained in SUMMARY_JSON.md. LC_ALL=C gives plain ASCII, NO_COLOR=1 no colours.";

Result<summary::Summary> load(const std::string& trace_folder) {
  const auto run = open_trace(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  if (Status whole = trace::check_tables(trace_folder, *run); !whole) return tl::make_unexpected(whole.error());
  return summary::read_tables(trace_folder);
}

}  // namespace

Result<std::string> summary_text(const std::string& trace_folder, std::FILE* stream) {
  const auto loaded = load(trace_folder);
  if (!loaded) return tl::make_unexpected(loaded.error());
  const std::string name = fmt::format("{} ({})", std::filesystem::path(trace_folder).lexically_normal().string(),
                                       summary::bytes_text(size_of(trace_folder)));
  return summary::text(*loaded, name, style_of(stream));
}

Result<int> report(const Arguments& arguments) {
  std::string trace_folder;
  bool as_json = false;
  CLI::App app("Prints the summary of a trace.", "report");
  set_usage(app, "mlrun report [OPTIONS] TRACE");
  app.footer(kReportFooter);
  app.add_option("TRACE", trace_folder, "folder of the trace")->required();
  app.add_flag("--json", as_json, "for machines (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  if (!as_json) {
    const auto text = summary_text(trace_folder, stdout);
    if (!text) return tl::make_unexpected(text.error());
    fmt::print("{}", *text);
    return 0;
  }
  const auto loaded = load(trace_folder);
  if (!loaded) return tl::make_unexpected(loaded.error());
  fmt::print("{}\n", summary::to_json(*loaded).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}

}  // namespace mlrun::view
