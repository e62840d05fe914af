// SPDX-License-Identifier: Apache-2.0
#include "runner/view/show.h"

#include <algorithm>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/options/cli.h"
#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"
#include "runner/report/text/terminal.h"
#include "runner/report/text/text_table.h"
#include "runner/trace/merge/optional_tables.h"
#include "runner/util/program.h"
#include "runner/util/text.h"
#include "runner/view/filter.h"
#include "runner/view/known_names.h"
#include "runner/view/table_columns.h"
#include "runner/view/table_shape.h"
#include "runner/view/trace_state.h"
#include "runner/view/verbs.h"

namespace mlrun::view {
namespace {

constexpr int64_t kTextRows = 100;

constexpr const char* kShowFooter =
    "EXPR compares columns: COLUMN OP VALUE [and COLUMN OP VALUE ...] with = != < <= > >= and ~ (contains).\n"
    "Times take ns, us, ms, s, min, h; other numbers K, M, G. Without a unit ts is in seconds from the start of the "
    "run, and a duration in nanoseconds.\n"
    "\n"
    "Examples:\n"
    "  mlrun show mlrun-train-1                                        the tables\n"
    "  mlrun show mlrun-train-1 call --where 'func = read and dur > 1ms'\n"
    "  mlrun show mlrun-train-1 call --where 'path ~ .npy and ts >= 2 and ts < 2.5' --limit 0\n"
    "  mlrun show mlrun-train-1 alloc --where 'size >= 1M' --columns ts,pid,size,library --csv > large.csv\n"
    "  mlrun show mlrun-train-1 stack --where 'stack_id = 7'           who called (--stacks)\n"
    "  mlrun show mlrun-train-1 loss --json";

Status list_tables(const ShowOptions& options, const model::Run& run, const TextOptions& text, const Sink& sink) {
  const auto names = tables::list_tables(options.trace_folder);
  if (!names) return tl::make_unexpected(names.error());
  report::TextTable table({"TABLE", "rows", "size", "files"});
  for (const std::string& name : *names) {
    if (tables::is_deleted(*run.document, name)) continue;
    const auto shape = table_shape(options.trace_folder, name);
    if (!shape) return tl::make_unexpected(shape.error());
    table.add({util::printable(name), util::count_text(shape->rows), util::bytes_text(shape->size_bytes),
               std::to_string(shape->files)});
  }
  sink(table.text(text.style));
  return tables::check_tables(options.trace_folder, *run.document);
}

// A table that an older trace lacks is treated as empty.
Result<tables::TableReader> open_table(const ShowOptions& options, tables::TableQuery query) {
  if (!tables::has_table(options.trace_folder + "/tables", options.table)) {
    if (auto schema = trace::optional_table_schema(options.table)) return tables::TableReader::empty(std::move(schema));
  }
  return tables::TableReader::open(options.trace_folder, options.table, std::move(query));
}

// An unknown table: the error lists the existing ones.
Status check_table(const ShowOptions& options, const model::Run& run) {
  if (Status whole = tables::check_tables(options.trace_folder, *run.document, options.table); !whole) return whole;
  if (trace::optional_table_schema(options.table)) return {};
  const auto names = tables::list_tables(options.trace_folder);
  if (!names) return tl::make_unexpected(names.error());
  if (std::find(names->begin(), names->end(), options.table) != names->end()) return {};
  return unknown_name(fmt::format("trace {} has no table '{}'", options.trace_folder, options.table), options.table,
                      *names);
}

class Show {
 public:
  Show(const ShowOptions& options, const TextOptions& text, const Sink& sink, int64_t origin_ns)
      : options_(options), text_(text), sink_(sink), origin_ns_(origin_ns), limit_(limit_of(options)) {}

  Status run() {
    if (auto ready = prepare(); !ready) return ready;
    tables::TableQuery query;
    query.columns = columns_->sources();
    filter_.narrow(query);
    auto reader = open_table(options_, std::move(query));
    if (!reader) return tl::make_unexpected(reader.error());
    const auto output = make_output();
    std::vector<const Column*> shown;
    for (const size_t place : shown_) shown.push_back(&columns_->columns()[place]);
    for (bool more = true; more;) {
      const auto batch = reader->next();
      if (!batch) return tl::make_unexpected(batch.error());
      if (!*batch) break;
      columns_->bind(**batch);
      more = show_batch((*batch)->num_rows(), shown, *output);
    }
    output->end();
    return close();
  }

 private:
  static int64_t limit_of(const ShowOptions& options) {
    const int64_t usual = options.format == ShowFormat::kText ? kTextRows : 0;
    const int64_t limit = options.limit.value_or(usual);
    return limit == 0 ? INT64_MAX : limit;
  }

  Status prepare() {
    const auto reader = open_table(options_, {});
    if (!reader) return tl::make_unexpected(reader.error());
    columns_.emplace(options_.trace_folder, options_.table, reader->schema());
    names_ = options_.columns.empty() ? columns_->usual(options_.format == ShowFormat::kText) : options_.columns;
    for (const std::string& name : names_) {
      const auto place = columns_->use(name);
      if (!place) return of_option("--columns: ", place.error());
      shown_.push_back(*place);
    }
    if (options_.where.empty()) return {};
    const auto comparisons = parse_where(options_.where);
    if (!comparisons) return tl::make_unexpected(comparisons.error());
    auto filter = Filter::make(*comparisons, origin_ns_, *columns_);
    if (!filter) return tl::make_unexpected(filter.error());
    filter_ = *std::move(filter);
    return {};
  }

  [[nodiscard]] std::unique_ptr<RowOutput> make_output() const {
    switch (options_.format) {
      case ShowFormat::kCsv: return csv_output(names_, origin_ns_, options_.keeps_formulas, sink_);
      case ShowFormat::kJson: return json_output(names_, origin_ns_, sink_);
      case ShowFormat::kText: break;
    }
    TextOptions text = text_;
    text.drop_empty = options_.columns.empty();
    return text_output(names_, origin_ns_, text, sink_);
  }

  // Returns false if no further row is needed. Text output continues, in order to count the rows that it leaves out; without a filter the files'
  // metadata has that count.
  bool show_batch(int64_t rows, const std::vector<const Column*>& shown, RowOutput& output) {
    for (int64_t row = 0; row < rows; ++row) {
      if (!filter_.matches(*columns_, row)) continue;
      if (++matched_ <= limit_) output.row(shown, row);
      if (matched_ >= limit_ && (options_.format != ShowFormat::kText || filter_.empty())) return false;
    }
    return true;
  }

  Status close() {
    if (options_.format != ShowFormat::kText) return {};
    if (filter_.empty()) {
      const auto shape = table_shape(options_.trace_folder, options_.table);
      if (!shape) return tl::make_unexpected(shape.error());
      matched_ = shape->rows;
    }
    std::string line = util::count_text(std::min(matched_, limit_)) + " rows";
    if (matched_ > limit_) line += fmt::format(", {} more: --limit N, 0 for all", util::count_text(matched_ - limit_));
    std::string others = "other columns:";
    for (const std::string& name : columns_->known()) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) others += " " + name;
    }
    sink_(text_.style.dim(line) + "\n");
    if (options_.columns.empty() && others.back() != ':') {
      sink_(text_.style.dim(report::paragraph(others, 0, SIZE_MAX, text_.style)));
    }
    return {};
  }

  const ShowOptions& options_;
  const TextOptions& text_;
  const Sink& sink_;
  int64_t origin_ns_;
  int64_t limit_;
  std::optional<TableColumns> columns_;
  std::vector<std::string> names_;
  std::vector<size_t> shown_;  // indexes in columns_
  Filter filter_;
  int64_t matched_ = 0;
};

}  // namespace

Status show(const ShowOptions& options, const TextOptions& text, const Sink& sink) {
  const auto run = open_trace(options.trace_folder);
  if (!run) return tl::make_unexpected(run.error());
  if (options.table.empty()) return list_tables(options, *run, text, sink);
  if (auto known = check_table(options, *run); !known) return known;
  const int64_t origin_ns = options.absolute ? 0 : run->begin_ns().value_or(0);
  return Show(options, text, sink, origin_ns).run();
}

Result<int> show(const Arguments& arguments) {
  ShowOptions options;
  bool as_csv = false, as_json = false;
  std::string columns;
  CLI::App app("Shows rows of a table of a trace, with names in place of ids.", "show");
  set_usage(app, "mlrun show [OPTIONS] TRACE [TABLE]");
  app.footer(kShowFooter);
  app.add_option("TRACE", options.trace_folder, "folder of the trace")->required();
  app.add_option("TABLE", options.table, "table to show (default: list the tables)");
  auto* csv = app.add_flag("--csv", as_csv, "comma-separated, times in nanoseconds (default: off)");
  app.add_flag("--csv-raw", options.keeps_formulas,
               "--csv with unchanged texts: no apostrophe before =, +, -, @, which spreadsheets execute (default: off)")
      ->excludes(csv);
  app.add_flag("--json", as_json, "one object per line, times in nanoseconds (default: off)")
      ->excludes(csv)
      ->excludes("--csv-raw");
  app.add_option("--where", options.where, "only rows that match (default: all)")->option_text("EXPR");
  app.add_option("--limit", options.limit, "at most N rows, 0: all (default: 100 of text, else all)")
      ->option_text("N")
      ->check(is_number_to(INT64_MAX));
  app.add_option("--columns", columns, "only these columns, in this order (default: the usual ones)")
      ->option_text("A,B,...");
  app.add_flag("--absolute", options.absolute,
               "times of CLOCK_MONOTONIC instead of since the start of the run (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  options.format = as_csv || options.keeps_formulas ? ShowFormat::kCsv
                   : as_json                        ? ShowFormat::kJson
                                                    : ShowFormat::kText;
  if (!columns.empty() && util::has_empty_part(columns)) {
    return fail(fmt::format("--columns {}: a column is missing beside a comma", columns));
  }
  for (const std::string_view name : util::split(columns, ", ")) options.columns.emplace_back(name);
  if (options.table.empty() && (as_csv || as_json || options.keeps_formulas || !options.where.empty() ||
                                options.limit || !columns.empty() || options.absolute)) {
    return fail("without TABLE, show only lists the tables; name one to see its rows: mlrun show " +
                options.trace_folder + " call");
  }
  const TextOptions text{.style = report::style_of(stdout), .cut = report::is_terminal(stdout)};
  const Status shown = show(options, text, [](std::string_view part) { fmt::print("{}", part); });
  if (!shown) return tl::make_unexpected(shown.error());
  if (const Status takes = util::check_output(); !takes) return tl::make_unexpected(takes.error());
  return 0;
}

}  // namespace mlrun::view
