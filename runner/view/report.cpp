// SPDX-License-Identifier: Apache-2.0
// report: prints the summary of a trace. Reads only small tables, whatever the size of the trace.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/findings/answer.h"
#include "runner/options/cli.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/json/json.h"
#include "runner/report/text/terminal.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_merged.h"
#include "runner/summary/tables/tables.h"
#include "runner/util/json_at.h"
#include "runner/util/units.h"
#include "runner/view/trace_state.h"
#include "runner/view/verbs.h"

namespace mlrun::view {
namespace {

constexpr const char* kReportFooter =
    "Examples:\n"
    "  mlrun report mlrun-train-1\n"
    "  mlrun report mlrun-train-1 --full\n"
    "  mlrun report mlrun-train-1 --json | jq .reread.ratio\n"
    "  mlrun report mlrun-train-1 --what-if workers=4\n"
    "\n"
    "The keys of the JSON text are explained in runner/summary/SUMMARY_JSON.md in PREFIX/share/doc/mlrun. LC_ALL=C "
    "gives plain ASCII, "
    "NO_COLOR=1 no colours.";

// Divides the driver's time again if the user names the driver, or if the trace is of an earlier version.
Result<summary::Summary> load(const std::string& trace_folder, int32_t driver_tid) {
  const auto run = open_trace(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  if (Status whole = tables::check_tables(trace_folder, *run->document); !whole)
    return tl::make_unexpected(whole.error());
  auto summary = summary::read_tables(trace_folder);
  if (!summary || (driver_tid == 0 && tables::has_table(trace_folder + "/tables", "summary_activity"))) return summary;
  summary->answer = {};
  const findings::AnswerOptions options{driver_tid, false};
  if (Status answered = findings::answer(trace_folder, *run, options, summary->answer); !answered) {
    return tl::make_unexpected(answered.error());
  }
  // The stored values belong to the driver that the merge found.
  for (model::PhaseRow& phase : summary->phases) phase.wait_ns = phase.compute_ns = -1;
  for (summary::PythonSummary& line : summary->python) line.is_driver = 0;
  if (driver_tid != 0 && summary->answer.wall_ns == 0) {
    return fail(fmt::format("--driver {}: no recorded thread has this TID; list them with mlrun show {} thread",
                            driver_tid, trace_folder));
  }
  return summary;
}

Result<int> report_what_if(const std::string& trace_folder, int32_t driver_tid, const std::string& text, bool as_json) {
  const auto change = findings::parse_what_if(text);
  if (!change) return tl::make_unexpected(change.error());
  const auto run = open_trace(trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  const auto replayed = findings::what_if(trace_folder, *run, driver_tid, *change);
  if (!replayed) return tl::make_unexpected(replayed.error());
  const auto share = [&](int64_t ns) { return double(ns - replayed->replayed_ns) / double(replayed->replayed_ns); };
  if (as_json) {
    const nlohmann::ordered_json out = {{"change", text},
                                        {"batches", replayed->batches},
                                        {"workers", replayed->workers},
                                        {"measured_ns", replayed->measured_ns},
                                        {"replayed_ns", replayed->replayed_ns},
                                        {"predicted_ns", replayed->predicted_ns},
                                        {"limited_by_processors", replayed->limited_by_processors}};
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  const util::Glyphs glyphs = report::style_of(stdout).glyphs;
  fmt::print("{} batches of {}: {} measured, {} replayed ({:+.1f} %)\n", replayed->batches,
             util::counted(replayed->workers, "worker"), util::time_text(replayed->measured_ns, glyphs),
             util::time_text(replayed->replayed_ns, glyphs), 100 * replayed->error());
  fmt::print("with {}: {} ({:+.0f} %){}\n", text, util::time_text(replayed->predicted_ns, glyphs),
             100 * share(replayed->predicted_ns), replayed->limited_by_processors ? ", limited by the processors" : "");
  return 0;
}

}  // namespace

namespace {

// The shortest form of the folder that works in a command in the current folder.
std::string short_folder(const std::string& trace_folder) {
  const auto whole = std::filesystem::path(trace_folder).lexically_normal();
  std::error_code error;
  const auto below = whole.lexically_relative(std::filesystem::current_path(error));
  return error || below.empty() || below == "." || *below.begin() == ".." ? whole.string() : below.string();
}

std::string text_of(const summary::Summary& summary, const std::string& trace_folder, std::FILE* stream,
                    report::Extent extent) {
  const std::string folder = short_folder(trace_folder);
  report::TextStyle style = report::style_of(stream);
  style.trace = report::shell_word(folder);
  return report::text(summary, fmt::format("{} ({})", folder, util::bytes_text(size_of(trace_folder))), style, extent);
}

// Prints a trace merged from several nodes. Each node's trace has its own report.
Result<int> report_merged(const std::string& trace_folder, const nlohmann::ordered_json& merged, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", util::json_text(merged, 2));
    return 0;
  }
  const std::string folder =
      fmt::format("{} ({})", short_folder(trace_folder), util::bytes_text(size_of(trace_folder)));
  fmt::print("{}", report::merged_text(merged, folder, report::style_of(stdout), true));
  return 0;
}

}  // namespace

Result<std::string> summary_at_end(const std::string& trace_folder, std::FILE* stream) {
  const auto loaded = load(trace_folder, 0);
  if (!loaded) return tl::make_unexpected(loaded.error());
  return text_of(*loaded, trace_folder, stream, report::extent_at_end(*loaded));
}

Result<int> report(const Arguments& arguments) {
  std::string trace_folder;
  bool as_json = false, is_full = false;
  int32_t driver_tid = 0;
  std::string change;
  CLI::App app("Prints the summary of a trace.", "report");
  set_usage(app, "mlrun report [OPTIONS] TRACE");
  app.footer(kReportFooter);
  app.add_option("TRACE", trace_folder, "folder of the trace")->required();
  app.add_option("--driver", driver_tid,
                 "the thread whose time is broken down (default: the main thread of the command, or of the first rank)")
      ->type_name("TID")
      ->check(CLI::PositiveNumber);
  app.add_option("--what-if", change,
                 "predict the time with: workers=N, io=free (files take no time), slow=none (slow batches take the "
                 "median); several with commas between")
      ->type_name("CHANGE");
  app.add_flag("--full", is_full, "every section (default: where the time went and what to change, in 45 lines)")
      ->excludes("--what-if");
  app.add_flag("--json", as_json, "as JSON (default: off)")->excludes("--full");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  if (const auto run = open_trace(trace_folder); run && run->is_merged) {
    if (driver_tid != 0 || !change.empty())
      return fail("--driver and --what-if need the trace of one node; list these traces with mlrun report " +
                  trace_folder);
    return report_merged(trace_folder, run->document->at("merged"), as_json);
  }
  if (!change.empty()) return report_what_if(trace_folder, driver_tid, change, as_json);
  const auto loaded = load(trace_folder, driver_tid);
  if (!loaded) return tl::make_unexpected(loaded.error());
  if (!as_json) {
    const auto extent = is_full ? report::Extent::kFull : report::Extent::kAnswer;
    fmt::print("{}", text_of(*loaded, trace_folder, stdout, extent));
    return 0;
  }
  fmt::print("{}\n", util::json_text(report::to_json(*loaded), 2));
  return 0;
}

}  // namespace mlrun::view
