// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/summary/tables/tables.h"
#include "runner/trace/merge/small_tables.h"
#include "runner/view/verbs.h"
#include "tests/runner/summary/small_training.h"
#include "tests/runner/view/small_trace.h"

namespace mlrun::view {
namespace {

namespace fs = std::filesystem;

class ReportTest : public ::testing::Test {
 protected:
  // What the verb prints, or its error.
  std::string run(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), trace_.folder());
    ::testing::internal::CaptureStdout();
    const auto status = report(options);
    const std::string out = ::testing::internal::GetCapturedStdout();
    return status ? out : "error: " + status.error().text;
  }

  testing::SmallTrace trace_;
};

TEST_F(ReportTest, PrintsTheSummary) {
  const std::string out = run();
  EXPECT_TRUE(out.starts_with("python train.py --epochs 2\n")) << out;
  EXPECT_NE(out.find("PROCESSES"), std::string::npos);
  EXPECT_NE(out.find(trace_.folder()), std::string::npos);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
}

TEST_F(ReportTest, PrintsEveryBlockWhenAsked) {
  EXPECT_EQ(run().find("PROCESS TREE"), std::string::npos);
  const std::string full = run({"--full"});
  EXPECT_NE(full.find("PROCESS TREE"), std::string::npos);
  EXPECT_EQ(full.find("TRACE "), std::string::npos) << full;
  EXPECT_TRUE(run({"--full", "--json"}).starts_with("error: "));
}

TEST_F(ReportTest, PrintsJson) {
  const auto json = nlohmann::json::parse(run({"--json"}));
  EXPECT_EQ(json["schema"], "mlrun-summary");
  EXPECT_EQ(json["processes"].size(), 4u);
}

TEST_F(ReportTest, NeedsNoEventTable) {
  fs::remove_all(fs::path(trace_.folder()) / "tables" / "call");
  fs::remove_all(fs::path(trace_.folder()) / "tables" / "file");
  EXPECT_TRUE(run().starts_with("python train.py"));
}

TEST_F(ReportTest, ReportsAnEmptyTrace) {
  ASSERT_TRUE(summary::write_tables(summary::Builder().finish({}), trace_.folder()));
  model::TraceInfo none;
  ASSERT_TRUE(trace::write_small_tables(none, trace_.folder()));
  trace_.write_run(nlohmann::json::object());
  EXPECT_NE(run().find("NOTHING RECORDED"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(run({"--json"}))["tracing"]["events"], 0);
}

TEST_F(ReportTest, NamesADamagedTable) {
  fs::resize_file(trace_.table_file("summary_process"), 100);
  const std::string out = run();
  EXPECT_TRUE(out.starts_with("error: ")) << out;
  EXPECT_NE(out.find("summary_process/part-00000.parquet"), std::string::npos) << out;
}

TEST_F(ReportTest, ShowsWhatToDoWithAnUnfinishedTrace) {
  fs::remove(fs::path(trace_.folder()) / "run.json");
  EXPECT_NE(run().find("holds no trace"), std::string::npos);
  std::ofstream(fs::path(trace_.folder()) / "session.json") << R"({"leader": {"pid": 1, "start_ticks": 0}})";
  EXPECT_NE(run().find("mlrun recover " + trace_.folder()), std::string::npos);
}

TEST(ReportVerbTest, RefusesAFolderThatIsNotATrace) {
  const auto missing = report({"/does/not/exist"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text.find("/does/not/exist does not exist"), std::string::npos);
  ASSERT_FALSE(report({}));
  ASSERT_FALSE(report({"a", "b"}));
}

TEST(ReportVerbTest, HasHelpWithExamples) {
  for (const auto verb : {report, static_cast<Result<int> (*)(const Arguments&)>(show), list}) {
    ::testing::internal::CaptureStdout();
    const auto status = verb({"--help"});
    const std::string out = ::testing::internal::GetCapturedStdout();
    ASSERT_TRUE(status);
    EXPECT_NE(out.find("Examples:"), std::string::npos);
  }
}

}  // namespace
}  // namespace mlrun::view
