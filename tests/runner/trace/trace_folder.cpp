// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/trace/trace_folder.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <arrow/api.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/parquet/table_reader.h"
#include "runner/trace/merge/merge.h"

namespace mlrun::testing {

namespace fs = std::filesystem;

TraceFolder::TraceFolder() {
  std::string pattern = (fs::temp_directory_path() / "mlrun-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot create " << pattern;
  path_ = pattern;
}

TraceFolder::~TraceFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<summary::Summary> TraceFolder::merge(const SpoolWriter& spool, unsigned threads) const {
  spool.write(path_);
  return trace::merge({path_, threads, false});
}

namespace {

// The column's chunks, one after another.
std::vector<std::shared_ptr<arrow::Array>> column_of(const std::string& folder, const std::string& table,
                                                     const std::string& column) {
  auto read = tables::read_table(folder, table, {.columns = {column}});
  if (!read) {
    ADD_FAILURE() << read.error().text;
    return {};
  }
  return (*read)->column(0)->chunks();
}

std::optional<int64_t> number_at(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return std::nullopt;
  if (array.type_id() == arrow::Type::INT64) return static_cast<const arrow::Int64Array&>(array).Value(row);
  if (array.type_id() == arrow::Type::INT32) return static_cast<const arrow::Int32Array&>(array).Value(row);
  if (array.type_id() == arrow::Type::BOOL) return static_cast<const arrow::BooleanArray&>(array).Value(row) ? 1 : 0;
  ADD_FAILURE() << "a column of " << array.type()->ToString();
  return std::nullopt;
}

std::string text_at(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return {};
  if (array.type_id() == arrow::Type::STRING) return static_cast<const arrow::StringArray&>(array).GetString(row);
  if (array.type_id() == arrow::Type::BINARY) return static_cast<const arrow::BinaryArray&>(array).GetString(row);
  ADD_FAILURE() << "a column of " << array.type()->ToString();
  return {};
}

}  // namespace

TraceFolder::Numbers TraceFolder::numbers(const std::string& table, const std::string& column) const {
  Numbers values;
  for (const auto& chunk : column_of(path_, table, column)) {
    for (int64_t row = 0; row < chunk->length(); ++row) values.push_back(number_at(*chunk, row));
  }
  return values;
}

std::vector<std::string> TraceFolder::texts(const std::string& table, const std::string& column) const {
  std::vector<std::string> values;
  for (const auto& chunk : column_of(path_, table, column)) {
    for (int64_t row = 0; row < chunk->length(); ++row) values.push_back(text_at(*chunk, row));
  }
  return values;
}

nlohmann::json TraceFolder::run() const {
  std::ifstream file(path_ + "/run.json");
  return nlohmann::json::parse(file, nullptr, false);
}

std::string TraceFolder::fingerprint() const {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path_ + "/tables")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::ostringstream all;
  for (const auto& file : files) all << file.string().substr(path_.size()) << '\n' << std::ifstream(file).rdbuf();
  return std::move(all).str();
}

}  // namespace mlrun::testing
