// SPDX-License-Identifier: Apache-2.0
// What the table `coverage` says of parents and children: the kernel adds a child's bytes to those of the parent that
// waited for it.
#include <gtest/gtest.h>

#include "tests/runner/trace/trace_folder.h"

namespace mlrun {
namespace {

using testing::RecordBuffer;
using testing::SpoolWriter;
using testing::ticks_at;
using testing::TraceFolder;
using Numbers = TraceFolder::Numbers;

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint32_t kParentPid = 100, kChildPid = 101;
constexpr int64_t kReadByChild = 9'000'000, kReadByParent = 2'000'000;

struct Told {
  int64_t parent_rchar = 0;
  int64_t child_rchar = 0;  // 0: it was killed, nobody knows
};

void add_process(SpoolWriter& spool, uint32_t pid, uint32_t number, int64_t read, int64_t rchar, RecordBuffer records) {
  records.add(testing::ProcessRecord{.clock = ticks_at(number * kMillisecond),
                                     .pid = pid,
                                     .parent_pid = pid - 1,
                                     .process = number,
                                     .image = number,
                                     .origin = number == 1 ? MLRUN_PROCESS_LOADED : MLRUN_PROCESS_FORKED,
                                     .start_ticks = 500 + number});
  records.add(testing::DescriptorCall{.start = ticks_at((10 + number) * kMillisecond), .result = read});
  if (rchar != 0) {
    records.add(testing::EndRecord{ticks_at((20 + number) * kMillisecond), static_cast<uint64_t>(rchar), 1, 0, 0});
  }
  spool.add_channel({.serial = number, .pid = pid, .tid = pid, .process = number, .image = number});
  spool.add_data(number, records);
}

SpoolWriter parent_and_child(const Told& told) {
  SpoolWriter spool;
  for (uint64_t ms = 0; ms <= 1000; ms += 100) spool.add_anchor(ms * kMillisecond);
  RecordBuffer fork;
  fork.add(testing::DescriptorCall{
      .func = events::func::k_fork, .start = ticks_at(kMillisecond), .fd = -1, .result = kChildPid});
  add_process(spool, kParentPid, 1, kReadByParent, told.parent_rchar, std::move(fork));
  add_process(spool, kChildPid, 2, kReadByChild, told.child_rchar, RecordBuffer());
  return spool;
}

void merge(const TraceFolder& folder, const SpoolWriter& spool) {
  const auto merged = folder.merge(spool);
  ASSERT_TRUE(merged) << merged.error().text;
  ASSERT_EQ(folder.numbers("process", "parent_proc_id"), Numbers({std::nullopt, 1}));
}

TEST(Coverage, AParentThatWaitedIsNotBlamedForWhatItsChildRead) {
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild, kReadByChild}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Coverage, NorForAChildThatWasKilledBeforeItToldTheKernelsTotals) {
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild, 0}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

TEST(Coverage, WhatNeitherOfThemRecordedIsTheParents) {
  constexpr int64_t kUnseen = 3'000'000;
  const TraceFolder folder;
  merge(folder, parent_and_child({kReadByParent + kReadByChild + kUnseen, kReadByChild}));
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers({1}));
  EXPECT_EQ(folder.numbers("coverage", "seen"), Numbers({kReadByParent}));
  EXPECT_EQ(folder.numbers("coverage", "kernel"), Numbers({kReadByParent + kUnseen}));
}

TEST(Coverage, BytesAreNotMissedWhereNoFilesWereToBeRecorded) {
  SpoolWriter spool = parent_and_child({kReadByParent + kReadByChild + 3'000'000, kReadByChild});
  spool.session()["options"]["streams"] = {"marks"};
  const TraceFolder folder;
  merge(folder, spool);
  EXPECT_EQ(folder.numbers("coverage", "proc_id"), Numbers());
}

}  // namespace
}  // namespace mlrun
