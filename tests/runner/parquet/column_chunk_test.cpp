// SPDX-License-Identifier: Apache-2.0
// Columns of every shape written and read back by Arrow's reader: values that are alike, few, many or missing, in runs
// and without order, and what the statistics of the row group say.
#include "runner/parquet/column_chunk.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include <arrow/api.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "runner/parquet/parquet_table.h"
#include "runner/parquet/table_reader.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::tables {
namespace {

using Value = std::optional<int64_t>;

std::string path_of(const testing::TraceFolder& trace) {
  const std::string folder = trace.path() + "/tables/shape";
  std::filesystem::create_directories(folder);
  return folder + "/part-00000.parquet";
}

std::vector<Value> make(size_t rows, const std::function<Value(size_t)>& value) {
  std::vector<Value> values;
  for (size_t row = 0; row < rows; ++row) values.push_back(value(row));
  return values;
}

// Two row groups of it, one column of each type; the second shows what is left of the first.
void expect_back(const std::vector<Value>& values, Encoding encoding = Encoding::kDictionary) {
  const testing::TraceFolder trace;
  ParquetTable table("shape");
  auto& wide = table.optional_int64("wide", encoding);
  auto& narrow = table.optional_int32("narrow");
  ASSERT_TRUE(table.open(path_of(trace)));
  for (int group = 0; group < 2; ++group) {
    for (const Value& value : values) {
      value ? wide.add(*value) : wide.add_null();
      value ? narrow.add(static_cast<int32_t>(*value)) : narrow.add_null();
      table.row_added();
    }
    ASSERT_TRUE(table.end_row_group());
  }
  const auto closed = table.close();
  ASSERT_TRUE(closed) << closed.error().text;
  const auto wides = trace.numbers("shape", "wide"), narrows = trace.numbers("shape", "narrow");
  ASSERT_EQ(wides.size(), 2 * values.size());
  ASSERT_EQ(narrows.size(), 2 * values.size());
  for (size_t row = 0; row < wides.size(); ++row) {
    const Value& value = values[row % values.size()];
    ASSERT_EQ(wides[row], value) << "row " << row << " of " << values.size();
    ASSERT_EQ(narrows[row], value ? Value(static_cast<int32_t>(*value)) : value) << row;
  }
}

constexpr size_t kRowCounts[] = {1, 2, 7, 8, 9, 15, 16, 17, 1000, 4099};

TEST(ColumnChunk, OfOneValueOrNoneIsReadBack) {
  for (const size_t rows : kRowCounts) {
    expect_back(make(rows, [](size_t) { return -5; }));
    expect_back(make(rows, [](size_t) { return std::nullopt; }));
    expect_back(make(rows, [](size_t row) { return row % 3 == 0 ? Value() : Value(77); }));
    expect_back(make(rows, [](size_t row) { return row == 0 ? Value() : Value(0); }), Encoding::kDelta);
    expect_back(make(rows, [](size_t) { return INT64_MIN; }), Encoding::kSplit);
  }
}

TEST(ColumnChunk, OfAsManyValuesAsNeedEachWidthIsReadBack) {
  std::mt19937_64 random(7);
  for (unsigned width = 1; width <= 16; ++width) {
    const uint64_t distinct = (uint64_t{1} << width) - 1;
    expect_back(make(4099 + distinct, [&](size_t row) {
      const auto value = static_cast<int64_t>(row < distinct ? row : random() % distinct);
      return row % 11 == 5 ? Value() : Value(value * 1'000'000'007);
    }));
  }
}

TEST(ColumnChunk, OfAsManyValuesAsADictionaryTakesAndOneMoreIsReadBack) {
  for (const size_t distinct : {65'536, 65'537}) {
    expect_back(make(70'001, [&](size_t row) { return Value(static_cast<int64_t>(row % distinct) * 1'000'000'007); }));
  }
}

TEST(ColumnChunk, OfRunsOfAnyLengthIsReadBack) {
  std::mt19937_64 random(11);
  for (const size_t longest : {2, 9, 17, 40, 700}) {
    size_t left = 0;
    int64_t value = 0;
    expect_back(make(20'011, [&](size_t) {
      if (left == 0) {
        left = 1 + random() % longest;
        value = static_cast<int64_t>(random() % 13);
      }
      --left;
      return Value(value);
    }));
  }
}

TEST(ColumnChunk, WithTooManyDistinctValuesForADictionaryRoundTrips) {
  expect_back(make(70'000, [](size_t row) { return static_cast<int64_t>(row) * 4096; }));
  expect_back(make(70'000, [](size_t row) { return row % 2 == 0 ? Value() : Value(static_cast<int64_t>(row)); }),
              Encoding::kSplit);
}

TEST(ColumnChunk, KeepsEveryBitOfARealNumber) {
  const testing::TraceFolder trace;
  const std::vector<double> values = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1.5};
  ParquetTable table("shape");
  auto& real = table.real("real");
  ASSERT_TRUE(table.open(path_of(trace)));
  for (const double value : values) {  // together in a row group, and each alone in its own
    real.add(value);
    table.row_added();
  }
  ASSERT_TRUE(table.end_row_group());
  for (const double value : values) {
    real.add(value);
    table.row_added();
    ASSERT_TRUE(table.end_row_group());
  }
  ASSERT_TRUE(table.close());
  const auto read = read_table(trace.path(), "shape");
  ASSERT_TRUE(read) << read.error().text;
  const auto column = (*read)->GetColumnByName("real");
  for (size_t row = 0; row < 2 * values.size(); ++row) {
    const auto scalar = column->GetScalar(static_cast<int64_t>(row)).ValueOrDie();
    const double got = static_cast<const arrow::DoubleScalar&>(*scalar).value, wanted = values[row % values.size()];
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << row;
    EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << row;
  }
}

// Two row groups of texts, with nulls and without.
void expect_texts_back(const std::vector<std::string>& values) {
  const testing::TraceFolder trace;
  ParquetTable table("shape");
  auto& text = table.text("text");
  auto& optional = table.text("optional", Presence::kSometimes);
  auto& bytes = table.optional_bytes("bytes");
  ASSERT_TRUE(table.open(path_of(trace)));
  for (int group = 0; group < 2; ++group) {
    for (size_t row = 0; row < values.size(); ++row) {
      text.add(values[row]);
      optional.add_unless_empty(values[row]);
      row % 3 == 1 ? bytes.add_null() : bytes.add(values[row]);
      table.row_added();
    }
    ASSERT_TRUE(table.end_row_group());
  }
  ASSERT_TRUE(table.close());
  const auto read = read_table(trace.path(), "shape");
  ASSERT_TRUE(read) << read.error().text;
  const auto of = [&](const char* column, size_t row) -> std::optional<std::string> {
    const auto scalar = (*read)->GetColumnByName(column)->GetScalar(static_cast<int64_t>(row)).ValueOrDie();
    if (!scalar->is_valid) return std::nullopt;
    return static_cast<const arrow::BaseBinaryScalar&>(*scalar).value->ToString();
  };
  ASSERT_EQ((*read)->num_rows(), static_cast<int64_t>(2 * values.size()));
  const size_t step = values.size() > 5000 ? 97 : 1;
  for (size_t row = 0; row < 2 * values.size(); row += step) {
    const size_t place = row % values.size();
    const std::string& value = values[place];
    ASSERT_EQ(of("text", row), value) << row;
    ASSERT_EQ(of("optional", row), value.empty() ? std::nullopt : std::optional(value)) << row;
    ASSERT_EQ(of("bytes", row), place % 3 == 1 ? std::nullopt : std::optional(value)) << row;
  }
}

std::vector<std::string> texts(size_t rows, const std::function<std::string(size_t)>& text) {
  std::vector<std::string> values;
  for (size_t row = 0; row < rows; ++row) values.push_back(text(row));
  return values;
}

TEST(ColumnChunk, OfTextsIsReadBack) {
  std::mt19937_64 random(5);
  expect_texts_back({""});
  expect_texts_back(texts(1000, [](size_t) { return ""; }));
  expect_texts_back(texts(1000, [](size_t) { return "one"; }));
  // Texts of each length, and texts that differ in one byte alone.
  expect_texts_back(texts(4099, [&](size_t row) { return std::string(row % 41, 'a'); }));
  expect_texts_back(texts(4099, [&](size_t) {
    std::string text(random() % 41, 'a');
    if (!text.empty()) text[random() % text.size()] = static_cast<char>('a' + random() % 3);
    return text;
  }));
  // The most distinct texts that a dictionary takes, and one more; then few long texts, then more bytes than it takes.
  for (const size_t distinct : {65'536, 65'537})
    expect_texts_back(texts(70'001, [&](size_t row) { return std::to_string(row % distinct); }));
  expect_texts_back(texts(3000, [](size_t row) { return std::string(5000, static_cast<char>('a' + row % 7)); }));
  expect_texts_back(texts(3000, [](size_t row) { return std::to_string(row) + std::string(800, 'x'); }));
  expect_texts_back(texts(30'000, [](size_t row) { return std::to_string(row % 6000) + std::string(800, 'x'); }));
}

TEST(ColumnChunk, ReportsTheSmallestAndTheLargest) {
  const testing::TraceFolder trace;
  ParquetTable table("shape");
  auto& few = table.optional_int64("few");
  auto& same = table.same_int64("same");
  auto& name = table.label("name", {"eve", "zoe", "ann", "mia"});
  table.empty_int64("none");
  auto& text = table.text("text");
  auto& longest = table.text("longest");
  ASSERT_TRUE(table.open(path_of(trace)));
  same.set(42);
  for (int64_t row = 0; row < 100; ++row) {
    row % 10 == 0 ? few.add_null() : few.add(row % 7 - 3);
    name.add(static_cast<size_t>(row % 3) + 1);
    text.add(row % 2 == 0 ? "b" : "\xc3\xa4");
    longest.add(row == 0 ? std::string(5000, 'c') : "a");
    table.row_added();
  }
  ASSERT_TRUE(table.close());

  const auto file = parquet::ParquetFileReader::OpenFile(path_of(trace));
  const auto group = file->metadata()->RowGroup(0);
  const auto statistics = [&](int column) { return group->ColumnChunk(column)->statistics(); };
  const auto numbers = std::static_pointer_cast<parquet::Int64Statistics>(statistics(0));
  EXPECT_EQ(numbers->min(), -3);
  EXPECT_EQ(numbers->max(), 3);
  EXPECT_EQ(numbers->null_count(), 10);
  EXPECT_EQ(std::static_pointer_cast<parquet::Int64Statistics>(statistics(1))->min(), 42);
  EXPECT_EQ(statistics(2)->EncodeMin(), "ann");
  EXPECT_EQ(statistics(2)->EncodeMax(), "zoe");
  EXPECT_FALSE(statistics(3)->HasMinMax());
  EXPECT_EQ(statistics(3)->null_count(), 100);
  EXPECT_EQ(statistics(4)->EncodeMin(), "b");
  EXPECT_EQ(statistics(4)->EncodeMax(), "\xc3\xa4");
  EXPECT_FALSE(statistics(5)->HasMinMax() && statistics(5)->EncodeMax() < std::string(5000, 'c'));
  const auto about = file->metadata()->key_value_metadata();
  ASSERT_TRUE(about);
  EXPECT_EQ(about->Get("mlrun.table").ValueOr(""), "shape");
}

}  // namespace
}  // namespace mlrun::tables
