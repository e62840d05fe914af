// SPDX-License-Identifier: Apache-2.0
// A table written by its list of columns, read back by Arrow: names, order, types, nulls and values.
#include <filesystem>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>

#include "runner/parquet/row_columns.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::tables {
namespace {

enum class Colour { kRed, kGreen };
const char* column_text(Colour colour) { return colour == Colour::kRed ? "red" : "green"; }

struct Place {
  int32_t line = 0;
  std::string file;
};

struct ShapeRow {
  int64_t ts_ns = 0;
  int16_t rank = -1;
  uint32_t size = 0;
  bool is_round = false;
  Colour colour = Colour::kRed;
  std::string name;
  size_t kind = 0;
  std::optional<Place> place;
};

constexpr std::array kKinds = {"plain", "dotted"};

struct ShapeColumns {
  static constexpr const char* kTable = "shape";
  static void visit(auto& visitor, const ShapeRow& row, const int64_t& group) {
    visitor("ts", row.ts_ns, kDelta);
    visitor.optional("rank", row.rank, -1);
    visitor("size", row.size);
    visitor("is_round", row.is_round);
    visitor("colour", row.colour);
    visitor.optional("name", row.name);
    visitor.label("kind", row.kind, kKinds);
    visitor.optional("line", row.place, &Place::line);
    visitor.optional("file", row.place, &Place::file);
    visitor.optional("odd", value_if(row.ts_ns % 2 == 1, row.ts_ns), kSplit);
    visitor.same("group", group);
    visitor.later("comes_later", row.ts_ns);
  }
};
using ShapeTable = RowTable<ShapeColumns, ShapeRow, int64_t>;

ShapeRow shape(int64_t number) {
  ShapeRow row;
  row.ts_ns = number;
  row.rank = static_cast<int16_t>(number % 4 - 1);
  row.size = UINT32_MAX;
  row.is_round = number % 3 == 0;
  row.colour = number % 2 == 0 ? Colour::kRed : Colour::kGreen;
  if (number % 5 != 0) row.name = "name " + std::to_string(number);
  row.kind = static_cast<size_t>(number % 2);
  if (number % 7 != 0) row.place = Place{static_cast<int32_t>(number), "file"};
  return row;
}

constexpr int64_t kRows = 100, kFirstGroup = 40;

std::shared_ptr<arrow::Table> write_and_read(const testing::TraceFolder& trace) {
  ShapeTable table;
  EXPECT_TRUE(table.open_in(trace.path() + "/tables"));
  for (int64_t i = 0; i < kRows; ++i) {
    table.add(shape(i), i < kFirstGroup ? 1 : 2);
    const Status ended = i + 1 == kFirstGroup ? table.parquet().end_row_group() : Status();
    EXPECT_TRUE(ended);
  }
  EXPECT_TRUE(table.close());
  std::shared_ptr<arrow::Table> read;
  for (const auto& file : std::filesystem::directory_iterator(trace.path() + "/tables/shape")) {
    auto reader = parquet::arrow::OpenFile(*arrow::io::ReadableFile::Open(file.path()), arrow::default_memory_pool());
    read = (*reader)->ReadTable().ValueOr(nullptr);
  }
  return read;
}

TEST(RowTable, HasTheColumnsOfItsListInOrderWithTheTypesOfTheFields) {
  const testing::TraceFolder trace;
  const auto table = write_and_read(trace);
  ASSERT_TRUE(table);
  std::string columns;
  for (const auto& field : table->schema()->fields()) {
    columns += field->name() + " " + field->type()->ToString() + (field->nullable() ? "?" : "") + "\n";
  }
  EXPECT_EQ(columns,
            "ts int64\nrank int32?\nsize int64\nis_round bool\ncolour string\nname string?\nkind string\nline int32?\n"
            "file string?\nodd int64?\ngroup int64\ncomes_later int64\n");
  EXPECT_EQ(table->num_rows(), kRows) << "the example row of the declaration is none";
}

TEST(RowTable, GivesBackTheValuesOfEachRow) {
  const testing::TraceFolder trace;
  const auto table = write_and_read(trace);
  ASSERT_TRUE(table);
  const auto value = [&](const char* column, int64_t row) {
    return (*table->GetColumnByName(column)->GetScalar(row))->ToString();
  };
  for (int64_t i = 0; i < kRows; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_EQ(value("ts", i), number);
    ASSERT_EQ(value("rank", i), i % 4 == 0 ? "null" : std::to_string(i % 4 - 1));
    ASSERT_EQ(value("size", i), "4294967295");
    ASSERT_EQ(value("is_round", i), i % 3 == 0 ? "true" : "false");
    ASSERT_EQ(value("colour", i), i % 2 == 0 ? "red" : "green");
    ASSERT_EQ(value("name", i), i % 5 == 0 ? "null" : "name " + number);
    ASSERT_EQ(value("kind", i), kKinds.at(static_cast<size_t>(i % 2)));
    ASSERT_EQ(value("line", i), i % 7 == 0 ? "null" : number);
    ASSERT_EQ(value("file", i), i % 7 == 0 ? "null" : "file");
    ASSERT_EQ(value("odd", i), i % 2 == 0 ? "null" : number);
    ASSERT_EQ(value("group", i), i < kFirstGroup ? "1" : "2");
    ASSERT_EQ(value("comes_later", i), number);
  }
}

}  // namespace
}  // namespace mlrun::tables
