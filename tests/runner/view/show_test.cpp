// SPDX-License-Identifier: Apache-2.0
#include "runner/view/show.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runner/summary/small_training.h"
#include "tests/runner/view/small_trace.h"

namespace mlrun::view {
namespace {

using Lines = std::vector<std::string>;

class ShowTest : public ::testing::Test {
 protected:
  Result<Lines> run(ShowOptions options) const {
    options.trace_folder = trace_.folder();
    std::string out;
    const Status status = show(options, TextOptions{}, [&](std::string_view part) { out += part; });
    if (!status) return tl::make_unexpected(status.error());
    Lines lines;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  // The calls' call_id that --where lets through.
  std::vector<int64_t> ids(const std::string& where) const {
    const auto lines = run({.table = "call", .format = ShowFormat::kCsv, .where = where, .columns = {"call_id"}});
    EXPECT_TRUE(lines) << lines.error().text;
    std::vector<int64_t> out;
    for (size_t i = 1; lines && i < lines->size(); ++i) out.push_back(std::stoll((*lines)[i]));
    return out;
  }
  std::string error(ShowOptions options) const {
    const auto lines = run(std::move(options));
    return lines ? "" : lines.error().text + "\n" + lines.error().below;
  }

  testing::SmallTrace trace_;
};

TEST_F(ShowTest, ListsTheTablesWithTheirRows) {
  const auto lines = run({});
  ASSERT_TRUE(lines);
  const auto call =
      std::find_if(lines->begin(), lines->end(), [](const auto& line) { return line.starts_with("call "); });
  ASSERT_NE(call, lines->end());
  EXPECT_NE(call->find(" 300 "), std::string::npos);
}

TEST_F(ShowTest, PutsNamesInPlaceOfIdsAndTimesFromTheStartOn) {
  const auto lines = run({.table = "call", .limit = 3});
  ASSERT_TRUE(lines) << lines.error().text;
  EXPECT_EQ(
      (*lines)[0],
      "         ts      dur  pid  comm            func  path                         offset  requested   ret  error");
  EXPECT_EQ((*lines)[1],
            "0.000000000      0 s  101  pt_data_worker  read  /data/kits/case_00000_x.npy       0          0     0  -");
  EXPECT_EQ(
      (*lines)[2],
      "0.010000000  1.00 µs  100  -               stat  /home/me/missing                  -       1024    -1  ENOENT");
  EXPECT_EQ((*lines)[4], "3 rows, 297 more: --limit N, 0 for all");
  EXPECT_TRUE((*lines)[5].starts_with("other columns: call_id "));
}

TEST_F(ShowTest, StopsTextAtAHundredRowsAndCountsTheOthers) {
  const auto all = run({.table = "call"});
  ASSERT_TRUE(all);
  EXPECT_TRUE((*all)[101].starts_with("100 rows, 200 more"));
  const auto filtered = run({.table = "call", .where = "func = read"});
  ASSERT_TRUE(filtered);
  EXPECT_TRUE((*filtered)[101].starts_with("100 rows, 50 more"));
  const auto unlimited = run({.table = "call", .limit = 0});
  ASSERT_TRUE(unlimited);
  EXPECT_EQ((*unlimited)[301], "300 rows");
}

TEST_F(ShowTest, WritesCsvWithQuotesWhereNeeded) {
  const auto lines =
      run({.table = "call", .format = ShowFormat::kCsv, .limit = 2, .columns = {"ts", "path", "error", "offset"}});
  ASSERT_TRUE(lines);
  EXPECT_EQ(*lines,
            (Lines{"ts,path,error,offset", "0,/data/kits/case_00000_x.npy,,0", "10000000,/home/me/missing,ENOENT,"}));
  const auto process =
      run({.table = "process", .format = ShowFormat::kCsv, .where = "role = resource tracker", .columns = {"command"}});
  ASSERT_TRUE(process);
  EXPECT_EQ((*process)[1], "python -c from multiprocessing.resource_tracker import main;main(5)");
}

TEST_F(ShowTest, WritesAnObjectALine) {
  const auto lines = run({.table = "call", .format = ShowFormat::kJson});
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 300u);
  const auto row = nlohmann::json::parse((*lines)[1]);
  EXPECT_EQ(row["path"], "/home/me/missing");
  EXPECT_EQ(row["error"], "ENOENT");
  EXPECT_TRUE(row["offset"].is_null());
  EXPECT_EQ(row["ts"], 10'000'000);
  EXPECT_EQ(row["command"], "python train.py --epochs 2");
  EXPECT_FALSE(row.contains("file_id"));
}

TEST_F(ShowTest, ShowsAbsoluteTimesWhenAsked) {
  const auto lines =
      run({.table = "call", .format = ShowFormat::kCsv, .limit = 1, .columns = {"ts"}, .absolute = true});
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[1], std::to_string(summary::testing::kStart));
  const std::string where = "ts = " + std::to_string(summary::testing::kStart + 10'000'000);
  const auto one =
      run({.table = "call", .format = ShowFormat::kCsv, .where = where, .columns = {"call_id"}, .absolute = true});
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, (Lines{"call_id", "2"}));
}

TEST_F(ShowTest, ComparesNumbersWithUnits) {
  EXPECT_EQ(ids("dur >= 299us").size(), 1u);
  EXPECT_EQ(ids("dur < 2000").size(), 2u);
  EXPECT_EQ(ids("dur > 0.1ms and dur <= 103 us").size(), 3u);
  EXPECT_EQ(ids("requested = 4K"), (std::vector<int64_t>{5}));
  EXPECT_EQ(ids("requested = 0x1000"), (std::vector<int64_t>{5}));
  EXPECT_EQ(ids("requested >= 298KiB").size(), 2u);
  EXPECT_EQ(ids("ret = -1 and call_id < 5"), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(ids("ts >= 2.98").size(), 2u);
  EXPECT_EQ(ids("ts > 1 and ts < 1030ms"), (std::vector<int64_t>{102, 103}));
  EXPECT_EQ(ids("ts = 0"), (std::vector<int64_t>{1}));
}

TEST_F(ShowTest, ComparesTextAndNames) {
  EXPECT_EQ(ids("path ~ case_00000").size(), 150u);
  EXPECT_EQ(ids("path != /home/me/missing").size(), 150u);
  EXPECT_EQ(ids("func = stat and comm = pt_data_worker").size(), 0u);
  EXPECT_EQ(ids("error = ENOENT").size(), 150u);
  EXPECT_EQ(ids("err = ENOENT and call_id <= 10").size(), 5u);
  EXPECT_EQ(ids("command ~ 'train.py'").size(), 300u);
}

TEST_F(ShowTest, TakesAMissingValueForNullAndForUnequal) {
  EXPECT_EQ(ids("offset = null").size(), 150u);
  EXPECT_EQ(ids("offset != null").size(), 150u);
  EXPECT_EQ(ids("error = null").size(), 150u);
  EXPECT_EQ(ids("offset != 0").size(), 299u);
  EXPECT_EQ(ids("offset < 5").size(), 1u);
  EXPECT_EQ(ids("own_ns = null").size(), 300u);
}

TEST_F(ShowTest, ComparesTrueAndFalse) {
  const auto lines =
      run({.table = "process", .format = ShowFormat::kCsv, .where = "forked = true", .columns = {"pid"}});
  ASSERT_TRUE(lines) << lines.error().text;
  EXPECT_EQ(*lines, (Lines{"pid", "101", "102"}));
}

// The first row group is spoilt: rows of the others are found all the same when ts rules it out.
TEST_F(ShowTest, DoesNotReadRowGroupsThatTimeRulesOut) {
  std::fstream file(trace_.table_file("call"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4);
  file << std::string(64, '\xff');
  file.close();
  EXPECT_EQ(ids("ts >= 2").size(), 100u);
  EXPECT_EQ(ids("ts >= 2.5 and ts < 2.6").size(), 10u);
  const std::string text = error({.table = "call", .where = "ts < 0.5", .columns = {"call_id"}});
  EXPECT_NE(text.find("part-00000.parquet"), std::string::npos) << text;
}

TEST_F(ShowTest, NamesWhatThereIsWhenAColumnOrTableIsWrong) {
  EXPECT_NE(
      error({.table = "call", .where = "paht ~ x"}).find("no column 'paht'; did you mean path? It has:\n  call_id, "),
      std::string::npos);
  EXPECT_NE(error({.table = "call", .columns = {"ts", "x"}}).find("--columns: table 'call' has no column 'x'"),
            std::string::npos);
  EXPECT_NE(
      error({.table = "calls"}).find("has no table 'calls'; did you mean call? It has:\n  call, coverage, file, "),
      std::string::npos);
  EXPECT_NE(error({.table = "nothing"}).find("has no table 'nothing'; it has:\n  call, "), std::string::npos);
}

TEST_F(ShowTest, RefusesComparisonsThatMakeNoSense) {
  for (const char* where :
       {"dur > fast", "requested = 4X", "path < a", "pid ~ 3", "offset < null", "dur > 1e300", "ts > 5 parsecs"}) {
    EXPECT_NE(error({.table = "call", .where = where}).find("--where: column '"), std::string::npos) << where;
  }
  EXPECT_NE(error({.table = "process", .where = "forked = 1"}).find("= true or = false"), std::string::npos);
}

TEST_F(ShowTest, ShowsATableThatDefinesIdsWithThem) {
  const auto lines = run({.table = "thread", .format = ShowFormat::kCsv});
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[0], "thread_id,command,exe,tid,first,last,comm");
}

TEST_F(ShowTest, ShowsATableWithoutRows) {
  const auto lines = run({.table = "loss"});
  ASSERT_TRUE(lines);
  EXPECT_TRUE((*lines)[0].starts_with("channel  reason"));
  EXPECT_EQ((*lines)[1], "0 rows");
}

TEST_F(ShowTest, LetsNoNameSteerTheTerminal) {
  ShowOptions options{.trace_folder = trace_.folder(), .table = "mark"};
  TextOptions text;
  std::string out;
  ASSERT_TRUE(show(options, text, [&](std::string_view part) { out += part; }));
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
}

TEST_F(ShowTest, CutsTextToTheTerminal) {
  ShowOptions options{.trace_folder = trace_.folder(), .table = "call", .limit = 5};
  TextOptions text;
  text.cut = true;
  text.style.width = 96;
  std::string out;
  ASSERT_TRUE(show(options, text, [&](std::string_view part) { out += part; }));
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) EXPECT_LE(report::text_width(line), 96u) << line;
  EXPECT_NE(out.find("…"), std::string::npos);
}

TEST_F(ShowTest, LeavesOutFiguresThatDoNotFitANarrowTerminal) {
  ShowOptions options{.trace_folder = trace_.folder(), .table = "call", .limit = 5};
  TextOptions text;
  text.cut = true;
  for (const size_t width : {40, 60, 80}) {
    text.style.width = width;
    std::string out;
    ASSERT_TRUE(show(options, text, [&](std::string_view part) { out += part; }));
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) EXPECT_LE(report::text_width(line), width) << line;
    const bool is_left_out = out.find("left out, the terminal is too narrow:") != std::string::npos;
    EXPECT_EQ(is_left_out, out.substr(0, out.find('\n')).find("ret") == std::string::npos) << out;
  }
}

}  // namespace
}  // namespace mlrun::view
