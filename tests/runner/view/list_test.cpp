// SPDX-License-Identifier: Apache-2.0
#include "runner/view/list.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/session/session_file.h"
#include "runner/view/trace_state.h"
#include "tests/runner/view/small_trace.h"

namespace mlrun::view {
namespace {

namespace fs = std::filesystem;

class ListTest : public ::testing::Test {
 protected:
  ListTest()
      : folder_(fs::path(::testing::TempDir()) /
                (std::string("list.") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::setenv("TZ", "UTC", 1);
  }
  ~ListTest() override { fs::remove_all(folder_); }

  std::string text() const {
    const auto traces = traces_in(folder_);
    EXPECT_TRUE(traces);
    return traces ? list_text(*traces, folder_, report::TextStyle{}, false) : "";
  }

  fs::path folder_;
};

TEST_F(ListTest, ShowsFinishedTracesByName) {
  for (const char* name : {"b", "a"}) {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "run.json")
        << R"({"command": ["python", "train.py"], "exit_status": 3, "wall_ns": 2000000000,
      "clock": {"start": {"realtime_ns": 1790000000000000000}}, "totals": {"events": 1234567, "losses": 0}, "coverage": []})";
  }
  fs::create_directories(folder_ / "no trace");
  const std::string out = text();
  EXPECT_TRUE(out.starts_with("FOLDER              started    time  exit   size  complete  command\n")) << out;
  EXPECT_LT(out.find("\na "), out.find("\nb "));
  EXPECT_NE(out.find("2026-09-21 14:13:20  2.00 s     3"), std::string::npos) << out;
  EXPECT_NE(out.find("  yes  python train.py\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("no trace"), std::string::npos);
}

TEST_F(ListTest, ASweepIsALineThatNamesItsVerb) {
  fs::create_directories(folder_ / "results" / "runs" / "app.dry.1");
  std::ofstream(folder_ / "results" / "sweep.sqlite") << "SQLite format 3";
  std::ofstream(folder_ / "results" / "runs" / "app.dry.1" / "run.json") << "{}";
  const std::string out = text();
  EXPECT_NE(out.find("sweep\n  many runs: mlrun sweep stat " + (folder_ / "results").string() + "\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(out.find("app.dry.1"), std::string::npos) << out;
  const auto of_parent = traces_in(folder_), of_itself = traces_in(folder_ / "results");
  ASSERT_TRUE(of_parent && of_itself);
  const auto json = nlohmann::json::parse(list_json(*of_parent));
  EXPECT_TRUE(json["traces"].empty());
  EXPECT_EQ(json["sweeps"], nlohmann::json::parse(list_json(*of_itself))["sweeps"]);
  EXPECT_EQ(json["sweeps"][0]["folder"], (folder_ / "results").string());
}

TEST_F(ListTest, TheSizeOmitsFilesThatAreAboutToBeRemoved) {
  const auto write = [](const fs::path& path, size_t bytes) { std::ofstream(path) << std::string(bytes, ' '); };
  for (const char* name : {"deferred", "done"}) {
    fs::create_directories(folder_ / name);
    for (const char* raw : {"spool.bin", "kept.bin", "kernel.bin", "sums.bin"}) write(folder_ / name / raw, 1 << 20);
    write(folder_ / name / "session.json", 1 << 20);
  }
  std::ofstream(folder_ / "done" / "run.json") << "{}" << std::string(2046, ' ');
  EXPECT_EQ(size_of(folder_ / "done"), 2048) << "the rest is about to be removed";
  EXPECT_EQ(size_of(folder_ / "deferred"), 5 << 20);
}

TEST_F(ListTest, InATerminalNoLineIsTooWide) {
  std::ofstream(folder_ / "run.json") << R"({"command": ["python", "train.py", ")" << std::string(200, 'x') << R"("],
      "exit_status": 0, "wall_ns": 2000000000, "clock": {"start": {"realtime_ns": 1790000000000000000}}})";
  const auto traces = traces_in(folder_);
  ASSERT_TRUE(traces);
  for (const size_t width : {60, 80, 120, 160}) {
    const std::string out = list_text(*traces, folder_, report::TextStyle{.width = width, .glyphs = {}}, true);
    EXPECT_NE(out.find("python train.py"), std::string::npos) << out;
    for (size_t at = 0; at < out.size();) {
      const size_t end = out.find('\n', at);
      const std::string line = out.substr(at, end - at);
      EXPECT_LE(report::text_width(line), width) << line;
      at = end + 1;
    }
  }
}

TEST_F(ListTest, HasTheSameFactsInJson) {
  for (const char* name : {"good", "bad", "odd"}) fs::create_directories(folder_ / name);
  std::ofstream(folder_ / "good" / "run.json") << R"({"command": ["python", "train.py", "--api-key", "hunter2"],
      "exit_status": 3, "wall_ns": 2000000000, "clock": {"start": {"realtime_ns": 1790000000000000000}},
      "totals": {"losses": 0}, "coverage": [{"subject": "a ring", "level": "remark"}]})";
  std::ofstream(folder_ / "bad" / "run.json") << R"({"command": ["x"], "totals": {"losses": 0},
      "coverage": [{"subject": "mapped files"}]})";
  std::ofstream(folder_ / "odd" / "run.json") << "{";
  const auto traces = traces_in(folder_);
  ASSERT_TRUE(traces);
  const auto json = nlohmann::json::parse(list_json(*traces))["traces"];
  ASSERT_EQ(json.size(), 3u);
  const auto& good = json[1];
  EXPECT_EQ(good["folder"], (folder_ / "good").string());
  EXPECT_EQ(good["command"], "python train.py --api-key ***");
  EXPECT_EQ(good["started"], "2026-09-21T14:13:20Z");
  EXPECT_EQ(good["exit_status"], 3);
  EXPECT_EQ(good["wall_ns"], 2000000000);
  EXPECT_EQ(good["bytes"], size_of(folder_ / "good"));
  EXPECT_EQ(good["complete"], true);
  EXPECT_EQ(json[0]["complete"], false) << "something was not seen";
  EXPECT_TRUE(json[2]["complete"].is_null() && json[2]["started"].is_null() && json[2]["command"].is_null());
}

TEST_F(ListTest, ShowsHowToFinishUnfinishedTraces) {
  fs::create_directories(folder_ / "killed");
  std::ofstream(folder_ / "killed" / "session.json")
      << R"({"command": ["/some/where/app"], "leader": {"pid": 1, "start_ticks": 0}})";
  fs::create_directories(folder_ / "running");
  session::SessionFile running((folder_ / "running").string());
  ASSERT_TRUE(running.write());
  const std::string out = text();
  EXPECT_NE(out.find("mlrun recover " + (folder_ / "killed").string()), std::string::npos) << out;
  EXPECT_NE(out.find("unfinished  app\n"), std::string::npos) << out;
  EXPECT_NE(out.find("running"), std::string::npos) << out;
  EXPECT_EQ(out.find("mlrun recover " + (folder_ / "running").string()), std::string::npos);
}

TEST_F(ListTest, ShowsATraceWhoseFactsAreUnreadable) {
  fs::create_directories(folder_ / "odd");
  std::ofstream(folder_ / "odd" / "run.json") << "{";
  EXPECT_NE(text().find("odd "), std::string::npos);
}

TEST_F(ListTest, AcceptsTheFolderOfATrace) {
  std::ofstream(folder_ / "run.json") << "{}";
  const auto traces = traces_in(folder_);
  ASSERT_TRUE(traces);
  EXPECT_EQ(traces->size(), 1u);
}

TEST_F(ListTest, ReportsAnEmptyFolder) { EXPECT_EQ(text(), "no traces in " + folder_.string() + "\n"); }

TEST_F(ListTest, RefusesAFolderThatIsNot) {
  const auto traces = traces_in(folder_ / "missing");
  ASSERT_FALSE(traces);
  EXPECT_NE(traces.error().text.find("cannot read the folder"), std::string::npos);
}

}  // namespace
}  // namespace mlrun::view
