// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/recorded_run.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

// A trace whose run.json has a command and these keys.
Result<RecordedRun> read_with(const std::string& keys) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("recorded_run_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "run.json") << R"({"command": ["./app", "1"], "cwd": "/work")" << (keys.empty() ? "" : ", ")
                                     << keys << "}";
  auto result = read_recorded_run(folder.string());
  fs::remove_all(folder);
  return result;
}

std::string failure(const std::string& keys) {
  const auto run = read_with(keys);
  EXPECT_TRUE(run);
  return run ? run->command.failure : "";
}

TEST(RecordedRun, HowTheCommandFailedIsKept) {
  EXPECT_EQ(failure(R"("exit_status": 0)"), "");
  EXPECT_EQ(failure(R"("exit_status": 130, "wait_status": 2)"), "exit status 130");
  EXPECT_EQ(failure(R"("recovered": true)"), "mlrun was killed before its end");
}

TEST(RecordedRun, LossesAreKnown) {
  EXPECT_FALSE(read_with(R"("totals": {"losses": 0})")->has_losses);
  EXPECT_TRUE(read_with(R"("totals": {"losses": 2})")->has_losses);
}

TEST(RecordedRun, TheShareOfTheSamplesInNoListedBlockIsKnownByMechanism) {
  const auto run =
      read_with(R"("access": {"by_rung": [{"rung": "precise", "rows": 200, "joined_rows": 50}, {"rung": "faults"},
                    {"rung": "cold", "rows": 9, "joined_rows": 1}]})");
  ASSERT_TRUE(run) << run.error().text;
  EXPECT_EQ(run->outside, (std::map<std::string, double>{{"precise", 0.75}})) << "older traces do not know it";
}

TEST(RecordedRun, TracesThatDoNotListWhenEveryBlockWasAliveAreRefused) {
  EXPECT_TRUE(read_with(""));
  for (const auto& [keys, said] : {std::pair{R"("merged": {})", "several nodes"},
                                   {R"("options": {"summary_only": true})", "record it without --summary-only"},
                                   {R"("options": {"alloc_sample_bytes": 4096})", "record it without --alloc-sample"},
                                   {R"("events_from_ns": 17)", "record it without --last"},
                                   {R"("losses": [{"reason": "paused", "count": 1}])", "record it without a pause"},
                                   {R"("command": [])", "no command"}}) {
    const auto run = read_with(keys);
    ASSERT_FALSE(run) << keys;
    EXPECT_NE(run.error().text.find(said), std::string::npos) << run.error().text;
  }
}

}  // namespace
}  // namespace mlrun::sweep
