// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/ordered_rows.h"

#include <algorithm>
#include <limits>

#include <arrow/api.h>

#include "runner/parquet/arrow_error.h"
#include "runner/util/damaged_trace.h"
#include "runner/view/table_shape.h"

namespace mlrun::exchange {

namespace {

// A row is early if it begins before the latest begin up to this many batches before its own. So many more batches are in memory.
constexpr size_t kUnitsAhead = 2;

// Whether a row [ts, end) comes before another one.
bool comes_before(int64_t ts, int64_t end, int64_t other_ts, int64_t other_end) {
  return ts != other_ts ? ts < other_ts : end > other_end;
}

}  // namespace

OrderedRows::OrderedRows(Export& job, std::string table, std::vector<std::string> columns, std::vector<int64_t> nodes)
    : job_(&job), table_(std::move(table)), columns_(std::move(columns)), nodes_(std::move(nodes)) {}

Result<OrderedRows> OrderedRows::open(Export& job, const std::string& table, std::vector<std::string> columns,
                                      int64_t node_id) {
  std::vector<int64_t> nodes = {node_id};
  if (node_id == 0 && job.is_merged()) {
    nodes.clear();
    for (const ExportNode& node : job.nodes()) nodes.push_back(node.id);
  }
  OrderedRows rows(job, table, std::move(columns), std::move(nodes));
  if (auto opened = rows.open_table(node_id); !opened) return tl::make_unexpected(opened.error());
  return rows;
}

Status OrderedRows::open_table(int64_t node_id) {
  if (!job_->has_table(table_)) return {};
  const auto shape = view::table_shape(job_->trace_folder(), table_, node_id);
  if (!shape) return tl::make_unexpected(shape.error());
  all_rows_ = shape->rows;
  if (all_rows_ == 0) {
    next_node_ = nodes_.size();
    return {};
  }
  if (const auto opened = open_node(); !opened) return tl::make_unexpected(opened.error());
  return {};
}

Result<bool> OrderedRows::open_node() {
  for (;;) {
    if (!job_->has_table(table_) || next_node_ == nodes_.size()) return false;
    node_id_ = nodes_[next_node_++];
    if (node_id_ == 0 || job_->has_rows_of(table_, node_id_)) break;
  }
  latest_.clear();
  stored_.clear();
  early_units_.clear();
  early_.clear();
  early_rows_ = 0;
  next_early_ = next_unit_ = 0;
  const auto schema = reader({}, false);
  if (!schema) return tl::make_unexpected(schema.error());
  const auto add = [&](const std::string& name) {
    if (schema->schema()->GetFieldIndex(name) >= 0 && std::find(stored_.begin(), stored_.end(), name) == stored_.end())
      stored_.push_back(name);
  };
  for (const char* name : {"ts", "dur", "proc_id"}) add(name);
  for (const std::string& name : columns_) add(name);
  if (auto scanned = scan_begins(); !scanned) return tl::make_unexpected(scanned.error());
  if (early_rows_ != 0) {
    if (auto kept = keep_early_rows(); !kept) return tl::make_unexpected(kept.error());
  }
  auto stream = reader(stored_, true);
  if (!stream) return tl::make_unexpected(stream.error());
  stream_ = std::make_unique<tables::TableReader>(*std::move(stream));
  return true;
}

Result<tables::TableReader> OrderedRows::reader(std::vector<std::string> columns, bool reads_ahead) const {
  tables::TableQuery query;
  query.columns = std::move(columns);
  query.from_ns = job_->from_ns();
  query.to_ns = job_->until_ns();
  query.read_ahead = reads_ahead;
  const std::string rows = node_id_ == 0 ? table_ : view::file_of_node(table_, node_id_);
  return tables::TableReader::open(job_->trace_folder(), rows, std::move(query));
}

int64_t OrderedRows::floor_of(size_t number) const {
  return number < kUnitsAhead ? std::numeric_limits<int64_t>::min() : latest_[number - kUnitsAhead];
}

Status OrderedRows::scan_begins() {
  auto begins = reader({"ts"}, false);
  if (!begins) return tl::make_unexpected(begins.error());
  for (;;) {
    const auto batch = begins->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    const tables::Numbers ts(**batch, "ts");
    const int64_t floor = floor_of(latest_.size());
    int64_t latest = latest_.empty() ? std::numeric_limits<int64_t>::min() : latest_.back();
    for (int64_t row = 0; row < (*batch)->num_rows(); ++row) {
      latest = std::max(latest, ts[row]);
      early_rows_ += ts[row] < floor ? 1 : 0;
    }
    latest_.push_back(latest);
  }
}

OrderedRows::Unit OrderedRows::unit_of(const arrow::RecordBatch& rows, size_t number, bool early) const {
  Unit unit;
  unit.fields = std::make_unique<std::vector<Values>>();
  for (const std::string& name : columns_) unit.fields->emplace_back(rows, name.c_str());
  const tables::Numbers ts(rows, "ts"), dur(rows, "dur"), proc_id(rows, "proc_id");
  const int64_t floor = floor_of(number);
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    const int64_t begin = ts[row], end = begin + dur[row];
    if ((begin < floor) != early) continue;
    if (!job_->wants_time(begin, end)) continue;
    if (job_->has_processes() && (proc_id.is_null(row) || !job_->wants_process(proc_id[row]))) continue;
    unit.places.push_back(
        {.ts = begin, .end = end, .fields = unit.fields.get(), .row = row, .has_duration = !dur.is_null(row)});
  }
  const auto before = [](const Place& a, const Place& b) { return comes_before(a.ts, a.end, b.ts, b.end); };
  if (!std::is_sorted(unit.places.begin(), unit.places.end(), before)) {
    std::stable_sort(unit.places.begin(), unit.places.end(), before);
  }
  return unit;
}

Status OrderedRows::keep_early_rows() {
  auto rows = reader(stored_, true);
  if (!rows) return tl::make_unexpected(rows.error());
  for (size_t number = 0;; ++number) {
    const auto batch = rows->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) break;
    const Unit found = unit_of(**batch, number, true);
    if (found.places.empty()) continue;
    arrow::RecordBatchVector slices;
    for (const Place& place : found.places) slices.push_back((*batch)->Slice(place.row, 1));
    const auto taken = arrow::ConcatenateRecordBatches(slices);
    if (!taken.ok()) return tables::arrow_error("keep rows of table " + table_, taken.status());
    Unit kept;
    kept.fields = std::make_unique<std::vector<Values>>();
    for (const std::string& name : columns_) kept.fields->emplace_back(**taken, name.c_str());
    for (size_t i = 0; i < found.places.size(); ++i) {
      early_.push_back(found.places[i]);
      early_.back().fields = kept.fields.get();
      early_.back().row = int64_t(i);
    }
    early_units_.push_back(std::move(kept));
  }
  std::stable_sort(early_.begin(), early_.end(),
                   [](const Place& a, const Place& b) { return comes_before(a.ts, a.end, b.ts, b.end); });
  return {};
}

Status OrderedRows::load_unit() {
  const auto batch = stream_->next();
  if (!batch) return tl::make_unexpected(batch.error());
  if (!*batch) return util::damaged_trace(job_->trace_folder(), "the table '" + table_ + "' changed while it was read");
  loaded_.push_back(unit_of(**batch, next_unit_++, false));
  return {};
}

Result<bool> OrderedRows::next() {
  for (;;) {
    // Not in the previous call: its current row, which the caller read until now, may be in such a unit.
    std::erase_if(loaded_, [](const Unit& unit) { return unit.next == unit.places.size(); });
    const Place* first = next_early_ < early_.size() ? &early_[next_early_] : nullptr;
    Unit* of = nullptr;
    for (Unit& unit : loaded_) {
      const Place& place = unit.places[unit.next];
      if (first != nullptr && !comes_before(place.ts, place.end, first->ts, first->end)) continue;
      first = &place;
      of = &unit;
    }
    if (next_unit_ < latest_.size() && (first == nullptr || floor_of(next_unit_) <= first->ts)) {
      if (auto loaded = load_unit(); !loaded) return tl::make_unexpected(loaded.error());
      continue;
    }
    if (first == nullptr) {
      const auto more = open_node();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) return false;
      continue;
    }
    current_ = *first;
    ++wanted_rows_;
    ++(of == nullptr ? next_early_ : of->next);
    return true;
  }
}

}  // namespace mlrun::exchange
