// SPDX-License-Identifier: Apache-2.0
// Tests the labels of time of calls on files, summed by run, process, phase and file, and as text.
#include "runner/summary/meters/split_meter.h"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "runner/report/text/text.h"
#include "runner/summary/meters/phase_meter.h"

namespace mlrun::summary {
namespace {

model::CallSplit split(int64_t own_ns, int64_t device_ns, int64_t shared_ns = 0) {
  model::CallSplit split;
  split.own_ns = own_ns;
  split.device_ns = device_ns;
  split.device_shared_ns = shared_ns;
  return split;
}

void add(SplitMeter& meter, int32_t proc_id, int64_t file_id, const model::CallSplit& split,
         SplitKind kind = SplitKind::kCalls) {
  meter.add(kind, proc_id, file_id, split.sum(), split);
}

model::FileTable files() {
  model::FileTable files;
  for (const char* path : {"/a", "/b"}) {
    model::FileRow file;
    file.path = path;
    files.push_back(file);
  }
  return files;
}

std::vector<ProcessSummary> processes() {
  std::vector<ProcessSummary> processes(2);
  processes[0].proc_id = 1;
  processes[0].role = "main";
  processes[1].proc_id = 2;
  processes[1].role = "DataLoader worker";
  return processes;
}

TEST(SplitMeterTest, SumsUpByRunProcessAndFile) {
  SplitMeter meter;
  const auto first = split(10, 90), second = split(30, 0), third = split(5, 45, 40);
  add(meter, 1, 1, first);
  add(meter, 2, 1, second);
  add(meter, 2, 2, third);
  const auto rows = meter.finish(processes(), {}, files());
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].scope, "run");
  EXPECT_EQ(rows[0].calls, 3);
  EXPECT_EQ(rows[0].time_ns, 180);
  EXPECT_EQ(rows[0].split.sum(), 180);
  EXPECT_EQ(rows[0].split.device_shared_ns, 40);
  EXPECT_EQ(rows[1].name, "calls");
  EXPECT_EQ(rows[2].name, "main");
  EXPECT_EQ(rows[3].split.own_ns, 35);
  EXPECT_EQ(rows[4].name, "/a") << "the longest sleep first";
  EXPECT_EQ(rows[4].split.device_ns, 90);
  EXPECT_EQ(rows[5].name, "/b");
}

TEST(SplitMeterTest, OperationsOutsideOfCallsCountForTheirFileSeparately) {
  SplitMeter meter;
  add(meter, 1, 1, split(10, 0));
  add(meter, 1, 2, split(0, 90), SplitKind::kFaults);
  add(meter, 1, 2, split(0, 10), SplitKind::kFaults);
  add(meter, 1, 0, split(0, 7), SplitKind::kAsynchronous);
  const auto rows = meter.finish(processes(), {}, files());
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0].time_ns, 117) << "all of it";
  const std::vector<std::tuple<std::string, int64_t, int64_t>> kinds = {
      {"calls", 1, 10}, {"page faults", 2, 100}, {"asynchronous I/O", 1, 7}};
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(rows[i + 1].scope, "kind");
    EXPECT_EQ(std::tuple(rows[i + 1].name, rows[i + 1].calls, rows[i + 1].time_ns), kinds[i]);
  }
  EXPECT_EQ(rows[4].time_ns, 117) << "of the process, too";
  EXPECT_EQ(rows[5].name, "/b");
  EXPECT_EQ(rows[5].time_ns, 100);
  Summary summary;
  summary.calls = 1;
  summary.splits = rows;
  const std::string text = report::splits_text(summary, report::TextStyle());
  EXPECT_NE(text.find("  page faults"), std::string::npos) << text;
  EXPECT_NE(text.find("  asynchronous I/O"), std::string::npos) << text;
  EXPECT_EQ(text.find("all calls"), std::string::npos) << text;
}

TEST(SplitMeterTest, ShowsNothingWhereNothingIsKnown) {
  EXPECT_TRUE(SplitMeter().finish(processes(), {}, files()).empty());
  EXPECT_EQ(report::splits_text(Summary(), report::TextStyle()), "");
}

TEST(SplitMeterTest, PhasesHaveTheirCallsAndOperations) {
  model::PhaseRow epoch;
  epoch.phase_id = 7;
  epoch.name = "epoch 1";
  epoch.ts_ns = 100;
  epoch.dur_ns = 100;
  PhaseMeter meter({epoch});
  const auto known = split(10, 20);
  meter.add(1, 150, 30, 0, 0, &known);
  meter.add(1, 160, 30, 0, 0);
  meter.add(1, 250, 30, 0, 0, &known);
  meter.add_operation(1, 170, split(0, 5));
  const auto rows = meter.splits(ProcessTree({}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, 7);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].time_ns, 35);
  EXPECT_EQ(rows[0].split.device_ns, 25);
}

// The line that begins with these words; empty: none.
std::string line_of(const std::string& text, const std::string& begin) {
  const size_t at = text.rfind("\n" + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(SplitMeterTest, TheTextHasSharesOfEachPhase) {
  std::vector<model::PhaseRow> epochs;
  for (int32_t number = 1; number <= 6; ++number) {
    model::PhaseRow& epoch = epochs.emplace_back();
    epoch.phase_id = number;
    epoch.name = "epoch " + std::to_string(number);
    epoch.ts_ns = number * 1'000'000;
    epoch.dur_ns = 1'000'000;
  }
  PhaseMeter phases(epochs);
  SplitMeter meter;
  for (int32_t number = 1; number <= 6; ++number) {
    const auto spent = split((100 - 10 * number) * 1000, 10 * number * 1000);
    phases.add(1, number * 1'000'000 + 500'000, spent.sum(), 0, 0, &spent);
    add(meter, 1, 1, spent);
  }
  Summary summary;
  summary.calls = 6;
  summary.splits = meter.finish(processes(), phases.splits(ProcessTree({})), files());
  const std::string text = report::splits_text(summary, report::TextStyle());
  const std::string first = line_of(text, "  epoch 1"), third = line_of(text, "  epoch 3");
  for (const char* part : {"100 µs", "90 %", "10 %"}) EXPECT_NE(first.find(part), std::string::npos) << text;
  for (const char* part : {"100 µs", "70 %", "30 %"}) EXPECT_NE(third.find(part), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "  epoch 5"), "") << "four are shown\n" << text;
  EXPECT_NE(text.find("2 more"), std::string::npos) << text;
}

TEST(SplitMeterTest, TheTextHasSharesOfEachTime) {
  SplitMeter meter;
  const auto first = split(10'000, 90'000), second = split(30'000, 0);
  add(meter, 1, 1, first);
  add(meter, 2, 2, second);
  Summary summary;
  summary.splits = meter.finish(processes(), {}, files());
  const std::string text = report::splits_text(summary, report::TextStyle());
  EXPECT_NE(text.find("WHERE I/O TIME WENT"), std::string::npos) << text;
  EXPECT_NE(text.find("all operations"), std::string::npos) << "there are no calls\n" << text;
  EXPECT_NE(text.find("DataLoader worker"), std::string::npos) << text;
  EXPECT_NE(text.find("/a"), std::string::npos) << text;
  EXPECT_EQ(text.find("/b"), std::string::npos) << "no thread slept for it\n" << text;
  EXPECT_NE(text.find("90"), std::string::npos) << text;
}

}  // namespace
}  // namespace mlrun::summary
