// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/python_meter.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

struct Line {
  const char* source;
  const char* function;
};

// Frames of one stack, innermost first. Returns its number.
int32_t add_stack(model::StackTable& table, std::initializer_list<Line> lines) {
  table.stacks.push_back({uint32_t(table.frame_ids.size()), uint8_t(lines.size()), 0});
  for (const Line& line : lines) {
    model::FrameRow frame;
    frame.source = line.source;
    frame.function = line.function;
    frame.line = 7;
    table.frames.push_back(frame);
    table.frame_ids.push_back(int32_t(table.frames.size()));
  }
  return int32_t(table.stacks.size());
}

std::string own_source(const model::StackTable& table, int32_t stack_id) {
  return table.frame(own_frame(table, stack_id)).source;
}

TEST(PythonMeterTest, TakesTheInnermostLineOutsideOfInstalledPackages) {
  model::StackTable table;
  EXPECT_EQ(own_source(table, add_stack(table, {{"/venv/lib/python3.11/site-packages/numpy/npyio.py", "load"},
                                                {"/home/me/data.py", "Set.__getitem__"},
                                                {"/home/me/train.py", "main"}})),
            "/home/me/data.py");
  EXPECT_EQ(own_source(table, add_stack(table, {{"/usr/lib/python3.11/selectors.py", "select"},
                                                {"<frozen runpy>", "_run_code"}})),
            "/usr/lib/python3.11/selectors.py");
}

// A forked worker has its parent's frames below its own.
TEST(PythonMeterTest, TakesNoLineOfTheParentForAForkedWorker) {
  model::StackTable table;
  EXPECT_EQ(
      own_source(table, add_stack(table, {{"/usr/lib/python3.11/selectors.py", "select"},
                                          {"/usr/lib/python3.11/multiprocessing/process.py", "BaseProcess._bootstrap"},
                                          {"/home/me/train.py", "main"}})),
      "/usr/lib/python3.11/selectors.py");
}

TEST(PythonMeterTest, KeepsTheDriverApartAndCountsWaiting) {
  model::StackTable table;
  const int32_t stack = add_stack(table, {{"/home/me/train.py", "step"}});
  const int32_t frame = own_frame(table, stack);
  PythonMeter meter;
  meter.add({1, 10, frame, 8, 800, 1});
  meter.add({1, 10, frame, 2, 200, 0});
  meter.add({1, 11, frame, 5, 5000, 0});   // another thread of the process
  meter.add({2, 20, frame, 3, 3000, -1});  // another process of the role
  std::vector<ProcessSummary> processes(2);
  for (int32_t i = 0; i < 2; ++i) {
    processes[size_t(i)].proc_id = i + 1;
    processes[size_t(i)].role = "main";
  }
  const auto rows = meter.finish(processes, table, 10);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].is_driver, 1);
  EXPECT_EQ(rows[0].samples, 10);
  EXPECT_EQ(rows[0].running, 8);
  EXPECT_EQ(rows[0].waiting, 2);
  EXPECT_EQ(rows[0].processes, 1);
  EXPECT_EQ(rows[0].time_ns, 1000);
  EXPECT_EQ(rows[0].running_ns, 800);
  EXPECT_EQ(rows[1].is_driver, 0);
  EXPECT_EQ(rows[1].samples, 8);
  EXPECT_EQ(rows[1].waiting, 5);
  EXPECT_EQ(rows[1].processes, 2);
}

}  // namespace
}  // namespace mlrun::summary
