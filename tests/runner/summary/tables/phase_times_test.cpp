// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tables/phase_times.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/summary/tables/row_writer.h"

namespace mlrun::summary {

struct BlamePiece {
  int64_t ts = 0, dur = 0, ns = 0;
  std::string activity;
};
template <>
struct Columns<BlamePiece> {
  static constexpr const char* kTable = "blame";
  static void visit(auto& visitor, auto& row) {
    visitor("ts", row.ts);
    visitor("dur", row.dur);
    visitor("ns", row.ns);
    visitor("activity", row.activity);
  }
};

namespace {

namespace fs = std::filesystem;

model::PhaseRow phase(int64_t start, int64_t end) {
  model::PhaseRow row;
  row.ts_ns = start;
  row.dur_ns = end - start;
  return row;
}

class PhaseTimesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("phase_times_test.{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(PhaseTimesTest, DividesPiecesAtTheBoundsOfPhases) {
  const std::vector<BlamePiece> pieces = {
      {0, 100, 100, "startup"}, {100, 100, 100, "compute"}, {200, 100, 60, "wait"},       {200, 100, 40, "wait"},
      {300, 50, 50, "receive"}, {350, 150, 150, "loader"},  {500, 100, 100, "checkpoint"}};
  ASSERT_TRUE(RowWriter::write(pieces, folder_.string()));
  std::vector<model::PhaseRow> phases = {phase(50, 1000), phase(150, 250), phase(250, 400), phase(600, 700)};
  ASSERT_TRUE(add_phase_times(folder_.string(), phases));
  EXPECT_EQ(phases[0].compute_ns, 100);
  EXPECT_EQ(phases[0].wait_ns, 100 + 50 + 150);
  EXPECT_EQ(phases[1].compute_ns, 50);
  EXPECT_EQ(phases[1].wait_ns, 50);
  EXPECT_EQ(phases[2].compute_ns, 0);
  EXPECT_EQ(phases[2].wait_ns, 50 + 50 + 50);
  EXPECT_EQ(phases[3].wait_ns, 0);
}

TEST_F(PhaseTimesTest, LeavesThemUnknownWithoutTheTable) {
  std::vector<model::PhaseRow> phases = {phase(0, 10)};
  ASSERT_TRUE(add_phase_times(folder_.string(), phases));
  EXPECT_EQ(phases[0].wait_ns, -1);
  EXPECT_EQ(phases[0].compute_ns, -1);
}

}  // namespace
}  // namespace mlrun::summary
