// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/table_copy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include <arrow/api.h>
#include <fmt/format.h>

#include "runner/nodes/stop_handlers.h"
#include "runner/nodes/table_file.h"
#include "runner/nodes/table_shape.h"
#include "runner/parquet/parquet_table.h"
#include "runner/util/file_io.h"
#include "runner/util/in_order.h"

namespace mlrun::nodes {

namespace {

// How a merge changes the times, durations and keys of one node.
class Change {
 public:
  Change(const ClockLine& line, const std::vector<int64_t>& bases) : line_(line), bases_(bases) {}

  [[nodiscard]] int64_t of(const ColumnMeaning& meaning, int64_t value) const {
    switch (meaning.kind) {
      case ColumnKind::kPlain: return value;
      case ColumnKind::kMoment: return line_.ours(value);
      case ColumnKind::kMomentOrUnknown: return value == 0 ? 0 : line_.ours(value);
      case ColumnKind::kDuration: return value - std::llround(line_.drift() * static_cast<double>(value));
      case ColumnKind::kKey: return value <= 0 ? value : value + bases_[static_cast<size_t>(meaning.space)];
    }
    return value;
  }
  [[nodiscard]] bool changes(const ColumnMeaning& meaning) const {
    if (meaning.kind == ColumnKind::kKey) return bases_[static_cast<size_t>(meaning.space)] != 0;
    if (meaning.kind == ColumnKind::kDuration) return line_.drift() != 0;
    return meaning.kind != ColumnKind::kPlain && (line_.drift() != 0 || line_.offset_ns(0) != 0);
  }

 private:
  const ClockLine& line_;
  const std::vector<int64_t>& bases_;
};

// A column that is written, and what is added to it from one row group.
class CopiedColumn {
 public:
  CopiedColumn(const ColumnShape& shape, tables::ParquetTable& table) : shape_(shape) {
    const auto presence = shape.has_nulls ? tables::Presence::kSometimes : tables::Presence::kAlways;
    switch (shape.type) {
      case ColumnType::kInt64: wide_ = &table.int64(shape.name, shape.encoding, presence); return;
      case ColumnType::kInt32: narrow_ = &table.int32(shape.name, shape.encoding, presence); return;
      case ColumnType::kDouble: real_ = &table.real(shape.name, presence); return;
      case ColumnType::kBool: flag_ = &table.boolean(shape.name); return;
      case ColumnType::kText: text_ = &table.text(shape.name, presence); return;
      case ColumnType::kBytes: text_ = &table.optional_bytes(shape.name); return;
    }
  }

  // `column` null: the node lacks it.
  void add(const arrow::ChunkedArray* column, int64_t rows, const Change& change) {
    if (column == nullptr) return add_nulls(static_cast<size_t>(rows));
    for (const auto& chunk : column->chunks()) {
      if (wide_ != nullptr) add_numbers(*wide_, static_cast<const arrow::Int64Array&>(*chunk), change);
      if (narrow_ != nullptr) add_numbers(*narrow_, static_cast<const arrow::Int32Array&>(*chunk), change);
      if (real_ != nullptr) add_numbers(*real_, static_cast<const arrow::DoubleArray&>(*chunk), change);
      if (flag_ != nullptr) {
        const auto& flags = static_cast<const arrow::BooleanArray&>(*chunk);
        for (int64_t i = 0; i < flags.length(); ++i) flag_->add(flags.Value(i));
      }
      if (text_ != nullptr) add_texts(static_cast<const arrow::DictionaryArray&>(*chunk));
    }
  }

 private:
  void add_nulls(size_t rows) {
    const auto never = [](size_t) { return false; };
    if (wide_ != nullptr) wide_->add_each_if(rows, never, [](size_t) { return int64_t{0}; });
    if (narrow_ != nullptr) narrow_->add_each_if(rows, never, [](size_t) { return int32_t{0}; });
    if (real_ != nullptr) real_->add_each_if(rows, never, [](size_t) { return 0.0; });
    for (size_t i = 0; text_ != nullptr && i < rows; ++i) text_->add_null();
  }

  template <typename T, typename Array>
  void add_numbers(tables::NumberColumn<T>& to, const Array& array, const Change& change) {
    const T* values = array.raw_values();
    if constexpr (std::is_integral_v<T>) {
      if (change.changes(shape_.meaning)) {
        const ColumnMeaning meaning = shape_.meaning;
        return add_each(to, array, [&](size_t i) { return static_cast<T>(change.of(meaning, values[i])); });
      }
    }
    add_each(to, array, [values](size_t i) { return values[i]; });
  }
  template <typename T, typename Get>
  static void add_each(tables::NumberColumn<T>& to, const arrow::Array& array, Get get) {
    const auto count = static_cast<size_t>(array.length());
    if (array.null_count() == 0) return to.add_each(count, get);
    const uint8_t* bits = array.null_bitmap_data();
    const auto offset = static_cast<size_t>(array.offset());
    to.add_each_if(
        count, [=](size_t i) { return (bits[(i + offset) / 8] >> (i + offset) % 8 & 1) != 0; }, get);
  }

  void add_texts(const arrow::DictionaryArray& array) {
    const auto& names = static_cast<const arrow::BinaryArray&>(*array.dictionary());
    const int32_t* numbers = static_cast<const arrow::Int32Array&>(*array.indices()).raw_values();
    for (int64_t i = 0; i < array.length(); ++i) {
      array.IsNull(i) ? text_->add_null() : text_->add(names.GetView(numbers[i]));
    }
  }

  const ColumnShape& shape_;
  tables::Int64Column* wide_ = nullptr;
  tables::Int32Column* narrow_ = nullptr;
  tables::DoubleColumn* real_ = nullptr;
  tables::BoolColumn* flag_ = nullptr;
  tables::TextColumn* text_ = nullptr;
};

// In `summary_value` and `summary_split` a text of the row, not the name of the column, determines whether a number is a time or a key.
std::shared_ptr<arrow::ChunkedArray> changed_by_row(const std::string& of_table, const arrow::Table& table,
                                                    const Change& change) {
  const MeaningByRow by_row = meaning_by_row(of_table);
  const auto names = table.GetColumnByName(std::string(by_row.by));
  auto values = table.GetColumnByName(std::string(by_row.column));
  if (!names || !values) return values;
  arrow::Int64Builder builder(arrow::system_memory_pool());
  int64_t at = 0;
  for (const auto& chunk : values->chunks()) {
    const auto& numbers = static_cast<const arrow::Int64Array&>(*chunk);
    for (int64_t i = 0; i < numbers.length(); ++i, ++at) {
      const auto name = *names->GetScalar(at);
      const auto& text = *static_cast<const arrow::DictionaryScalar&>(*name).GetEncodedValue();
      const ColumnMeaning meaning = meaning_of_row(of_table, text->ToString());
      if (!builder.Append(change.of(meaning, numbers.Value(i))).ok()) throw std::bad_alloc();
    }
  }
  return std::make_shared<arrow::ChunkedArray>(*builder.Finish());
}

// A task of a thread: to copy all files of one table of one node to one file.
struct Job {
  const TableShape* shape = nullptr;
  size_t node = 0;
};

Status copy_one(const Job& job, const Change& change, const std::string& tables_folder) {
  tables::ParquetTable table(job.shape->name);
  tables::Int32Column& node_id = table.int32("node_id", tables::Encoding::kSame);
  std::vector<std::unique_ptr<CopiedColumn>> columns;
  for (const ColumnShape& shape : job.shape->columns) columns.push_back(std::make_unique<CopiedColumn>(shape, table));
  Status status = table.open(fmt::format("{}/{}/part-{:05}.parquet", tables_folder, job.shape->name, job.node));
  const std::string_view by_row = meaning_by_row(job.shape->name).column;
  const std::vector<std::string> none;
  for (const std::string& path : job.shape->rows[job.node] == 0 ? none : job.shape->files[job.node]) {
    if (!status) break;
    const auto file = TableFile::open(path);
    if (!file) return tl::make_unexpected(file.error());
    for (int group = 0; status && group < file->row_groups(); ++group) {
      if (Status goes_on = check_stopped(); !goes_on) return goes_on;
      const auto read = file->read(group);
      if (!read) return tl::make_unexpected(read.error());
      const arrow::Table& rows = **read;
      const auto count = static_cast<size_t>(rows.num_rows());
      node_id.add_each(count, [&](size_t) { return static_cast<int32_t>(job.node) + 1; });
      for (size_t i = 0; i < columns.size(); ++i) {
        const std::string& name = job.shape->columns[i].name;
        const auto column = name == by_row ? changed_by_row(job.shape->name, rows, change) : rows.GetColumnByName(name);
        columns[i]->add(column.get(), rows.num_rows(), change);
      }
      table.rows_added(count);
      status = table.end_row_group();
    }
  }
  if (!status) return status;
  if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

// The number that is added to each node's keys. Fails if the keys of all nodes together do not fit columns of 32 bits.
Result<std::vector<std::vector<int64_t>>> bases_of(const TableShapes& shapes) {
  std::vector<std::vector<int64_t>> bases;
  std::vector<int64_t> sum(kKeySpaces);
  for (const std::vector<int64_t>& largest : shapes.largest_keys) {
    bases.push_back(sum);
    for (size_t space = 0; space < kKeySpaces; ++space) sum[space] += largest[space];
  }
  for (const KeySpace space : {KeySpace::kProcess, KeySpace::kImage, KeySpace::kThread, KeySpace::kStack,
                               KeySpace::kFrame, KeySpace::kPhase, KeySpace::kGpu, KeySpace::kSyscall}) {
    if (sum[static_cast<size_t>(space)] > std::numeric_limits<int32_t>::max())
      return fail("the traces have more than 2^31 processes, threads or stacks together; merge fewer of them");
  }
  return bases;
}

std::vector<Job> jobs_of(const TableShapes& shapes) {
  std::vector<Job> jobs;
  for (const TableShape& shape : shapes.tables) {
    bool has_any = false;
    for (size_t node = 0; node < shape.rows.size(); ++node) {
      if (shape.rows[node] == 0) continue;
      jobs.push_back({&shape, node});
      has_any = true;
    }
    if (!has_any && !shape.columns.empty()) jobs.push_back({&shape, 0});  // a file with the columns, without rows
  }
  // The longest tables first, so that no thread begins a long one when the others have ended.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.shape->rows[a.node] > b.shape->rows[b.node]; });
  return jobs;
}

}  // namespace

Result<std::vector<std::vector<int64_t>>> copy_tables(const std::vector<NodeTrace>& nodes,
                                                      const std::vector<NodeClock>& clocks, const CopyOptions& options,
                                                      std::vector<std::string>& problems) {
  const auto shapes = shapes_of(nodes, problems);
  if (!shapes) return tl::make_unexpected(shapes.error());
  auto bases = bases_of(*shapes);
  if (!bases) return bases;
  const std::string tables = options.folder + "/tables";
  for (const TableShape& shape : shapes->tables) {
    if (Status made = util::make_folders(tables + "/" + shape.name); !made) return tl::make_unexpected(made.error());
  }
  std::vector<Change> changes;
  for (size_t node = 0; node < nodes.size(); ++node) changes.emplace_back(clocks[node].line, (*bases)[node]);
  const std::vector<Job> jobs = jobs_of(*shapes);
  const auto nothing = [](unsigned, size_t) { return Status(); };
  const Status done = util::in_order(jobs.size(), options.threads, nothing, nothing, [&](unsigned, size_t at) {
    return copy_one(jobs[at], changes[jobs[at].node], tables);
  });
  if (!done) return tl::make_unexpected(done.error());
  return bases;
}

}  // namespace mlrun::nodes
