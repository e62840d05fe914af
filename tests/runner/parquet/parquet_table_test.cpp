// SPDX-License-Identifier: Apache-2.0
// Tables written and read back: values, nulls, row groups, and what is read for a question about a time.
#include "runner/parquet/parquet_table.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "runner/parquet/table_reader.h"
#include "tests/runner/trace/trace_folder.h"

namespace mlrun::tables {
namespace {

namespace fs = std::filesystem;

// The folder of one table in a trace.
std::string table_folder(const testing::TraceFolder& trace, const std::string& table) {
  const std::string folder = trace.path() + "/tables/" + table;
  fs::create_directories(folder);
  return folder;
}

TEST(ParquetTable, GivesBackWhatWasAdded) {
  const testing::TraceFolder trace;
  ParquetTable table("all_types");
  auto& number = table.optional_int64("number", Encoding::kSplit);
  auto& small = table.int32("small");
  auto& real = table.real("real");
  auto& flag = table.boolean("flag");
  auto& text = table.text("text", Presence::kSometimes);
  auto& label = table.label("label", {"none", "some"});
  table.empty_int64("later");
  ASSERT_TRUE(table.open(table_folder(trace, "all_types") + "/part-00000.parquet"));
  for (int64_t i = 0; i < 1000; ++i) {
    i % 3 == 0 ? number.add_null() : number.add(i * 1'000'000'007);
    small.add(static_cast<int32_t>(-i));
    real.add(static_cast<double>(i) / 4);
    flag.add(i % 2 == 1);
    i % 5 == 0 ? text.add_null() : text.add("text " + std::to_string(i % 7));
    label.add(static_cast<size_t>(i % 2));
    table.row_added();
    if (i == 400) {
      ASSERT_TRUE(table.end_row_group());
    }
  }
  const auto size = table.close();
  ASSERT_TRUE(size) << size.error().text;
  EXPECT_EQ(*size, static_cast<int64_t>(fs::file_size(trace.path() + "/tables/all_types/part-00000.parquet")));

  const auto numbers = trace.numbers("all_types", "number"), flags = trace.numbers("all_types", "flag");
  const auto smalls = trace.numbers("all_types", "small"), later = trace.numbers("all_types", "later");
  const auto texts = trace.texts("all_types", "text"), labels = trace.texts("all_types", "label");
  ASSERT_EQ(numbers.size(), 1000u);
  for (int64_t i = 0; i < 1000; ++i) {
    const auto row = static_cast<size_t>(i);
    ASSERT_EQ(numbers[row], i % 3 == 0 ? std::nullopt : std::optional(i * 1'000'000'007));
    ASSERT_EQ(smalls[row], -i);
    ASSERT_EQ(flags[row], i % 2);
    ASSERT_EQ(texts[row], i % 5 == 0 ? "" : "text " + std::to_string(i % 7));
    ASSERT_EQ(labels[row], i % 2 == 0 ? "none" : "some");
    ASSERT_EQ(later[row], std::nullopt);
  }
}

TEST(ParquetTable, KeepsNullsWhereverTheyBegin) {
  const testing::TraceFolder trace;
  for (const int64_t first_null : {0, 1, 7, 8, 9, 99}) {
    ParquetTable table("nulls");
    auto& number = table.optional_int64("number");
    ASSERT_TRUE(table.open(table_folder(trace, "nulls") + "/part-00000.parquet"));
    for (int64_t i = 0; i < 100; ++i) {
      i >= first_null&& i < first_null + 20 ? number.add_null() : number.add(i);
      table.row_added();
    }
    ASSERT_TRUE(table.close());
    const auto numbers = trace.numbers("nulls", "number");
    for (int64_t i = 0; i < 100; ++i) {
      const bool null = i >= first_null && i < first_null + 20;
      ASSERT_EQ(numbers[static_cast<size_t>(i)], null ? std::nullopt : std::optional(i)) << first_null;
    }
  }
}

TEST(ParquetTable, IsFullByTheBytesOfItsTextsToo) {
  ParquetTable table("texts");
  auto& one = table.text("one");
  auto& other = table.optional_bytes("other");
  const std::string half(size_t{512} << 10, 'x');
  int64_t rows = 0;
  for (; !table.full() && rows < 1000; ++rows) {
    one.add(half);
    other.add(half);
    table.row_added();
  }
  EXPECT_EQ(rows, kRowGroupTextBytes / (int64_t{1} << 20));
}

TEST(ParquetTable, RefusesColumnsThatDoNotFitTogether) {
  const testing::TraceFolder trace;
  ParquetTable table("bad");
  auto& one = table.int64("one");
  auto& two = table.int64("two");
  ASSERT_TRUE(table.open(table_folder(trace, "bad") + "/part-00000.parquet"));
  one.add(1);
  table.row_added();
  EXPECT_FALSE(table.end_row_group());
  two.add_null();
  const auto closed = table.close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().text.find("two"), std::string::npos);
}

TEST(ParquetTable, LeavesNothingBehindUnlessItWasClosed) {
  const testing::TraceFolder trace;
  const std::string folder = table_folder(trace, "cut");
  {
    ParquetTable table("cut");
    auto& number = table.int64("number");
    ASSERT_TRUE(table.open(folder + "/part-00000.parquet"));
    number.add(1);
    table.row_added();
    ASSERT_TRUE(table.end_row_group());
  }
  EXPECT_TRUE(fs::is_empty(folder));
  ParquetTable table("cut");
  table.int64("number");
  EXPECT_FALSE(table.open(folder + "/no/such/folder.parquet"));
}

TEST(ParquetTable, FailsWhenTheDiskIsFull) {
  const testing::TraceFolder trace;
  const std::string folder = table_folder(trace, "full");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  {
    ParquetTable table("full");
    auto& number = table.int64("number", Encoding::kSplit);
    EXPECT_TRUE(table.open(folder + "/part-00000.parquet"));
    for (int64_t i = 0; i < 100'000; ++i) {
      number.add(i * i * 7919);
      table.row_added();
    }
    const auto closed = table.close();
    EXPECT_FALSE(closed);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(fs::is_empty(folder));
}

// Ten row groups in two files: group g has ts in [100 g, 100 g + 50) and ends up to 100 g + 90.
testing::TraceFolder& write_times(testing::TraceFolder& trace) {
  const std::string folder = table_folder(trace, "times");
  for (int file = 0; file < 2; ++file) {
    ParquetTable table("times");
    auto& ts = table.int64("ts");
    auto& end_max = table.int64("end_max");
    EXPECT_TRUE(table.open(folder + "/part-0000" + std::to_string(file) + ".parquet"));
    for (int64_t group = file * 5; group < file * 5 + 5; ++group) {
      for (int64_t i = 0; i < 50; ++i) {
        ts.add(group * 100 + i);
        end_max.add(group * 100 + 90);
        table.row_added();
      }
      EXPECT_TRUE(table.end_row_group());
    }
    EXPECT_TRUE(table.close());
  }
  return trace;
}

int64_t rows_read(const testing::TraceFolder& trace, int64_t from_ns, int64_t to_ns) {
  auto table = read_table(trace.path(), "times", {{"ts"}, from_ns, to_ns});
  EXPECT_TRUE(table);
  return table ? (*table)->num_rows() : -1;
}

TEST(TableReader, ReadsOnlyRowGroupsThatMayHoldTheTime) {
  testing::TraceFolder trace;
  write_times(trace);
  EXPECT_EQ(rows_read(trace, INT64_MIN, INT64_MAX), 500);
  EXPECT_EQ(rows_read(trace, 300, 349), 50);
  EXPECT_EQ(rows_read(trace, 391, 399), 0) << "between two groups";
  EXPECT_EQ(rows_read(trace, 390, 400), 100) << "the last end of one and the first start of the next";
  EXPECT_EQ(rows_read(trace, 450, 600), 150) << "across files";
}

// All of `times`, with a second thread where one can be started.
std::vector<int64_t> read_ahead(const testing::TraceFolder& trace) {
  TableQuery query;
  query.columns = {"ts"};
  query.read_ahead = true;
  auto reader = TableReader::open(trace.path(), "times", query);
  std::vector<int64_t> values;
  for (auto batch = reader->next(); batch && *batch; batch = reader->next()) {
    const auto& column = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
    values.insert(values.end(), column.raw_values(), column.raw_values() + column.length());
  }
  return values;
}

TEST(TableReader, GivesTheSameRowsInOrderWhenItReadsAhead) {
  testing::TraceFolder trace;
  write_times(trace);
  std::vector<int64_t> expected;
  for (int64_t group = 0; group < 10; ++group) {
    for (int64_t i = 0; i < 50; ++i) expected.push_back(group * 100 + i);
  }
  EXPECT_EQ(read_ahead(trace), expected);
}

// Makes this process one that cannot start threads.
bool limit_threads() {
  constexpr uid_t kOther = 65534;  // there is no limit for root
  const rlimit one = {.rlim_cur = 1, .rlim_max = 1};
  return (::geteuid() != 0 || ::setuid(kOther) == 0) && ::setrlimit(RLIMIT_NPROC, &one) == 0;
}

TEST(TableReaderDeathTest, ReadsAheadWhereNoThreadCanBeStarted) {
  testing::TraceFolder trace;
  write_times(trace);
  fs::permissions(trace.path(), fs::perms(0755));
  EXPECT_EXIT(::_exit(limit_threads() && read_ahead(trace).size() == 500 ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(TableReader, EndsWhileItReadsAhead) {
  testing::TraceFolder trace;
  write_times(trace);
  TableQuery query;
  query.read_ahead = true;
  auto reader = TableReader::open(trace.path(), "times", query);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->next());  // the second batch is being read when the reader ends
}

TEST(TableReader, NamesWhatIsMissing) {
  testing::TraceFolder trace;
  write_times(trace);
  const auto no_table = TableReader::open(trace.path(), "none");
  ASSERT_FALSE(no_table);
  EXPECT_NE(no_table.error().text.find("'none'"), std::string::npos);
  const auto no_column = TableReader::open(trace.path(), "times", {.columns = {"nothing"}});
  ASSERT_FALSE(no_column);
  EXPECT_NE(no_column.error().text.find("nothing"), std::string::npos);
  const auto tables = list_tables(trace.path());
  ASSERT_TRUE(tables);
  EXPECT_EQ(*tables, std::vector<std::string>({"times"}));
}

TEST(TableReader, RefusesAFileThatIsNotParquet) {
  const testing::TraceFolder trace;
  std::ofstream(table_folder(trace, "junk") + "/part-00000.parquet") << "PAR1 and then nothing of the kind";
  EXPECT_FALSE(TableReader::open(trace.path(), "junk"));
}

}  // namespace
}  // namespace mlrun::tables
