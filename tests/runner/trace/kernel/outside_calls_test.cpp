// SPDX-License-Identifier: Apache-2.0
// Tests what the kernel side records outside of calls: it is separated from operations in calls without a row, and
// summed.
#include <gtest/gtest.h>

#include "runner/trace/kernel/outside_reads.h"
#include "runner/trace/kernel/part_calls.h"
#include "runner/trace/observed/silent_processes.h"

namespace mlrun::trace {
namespace {

mlrun_block_part queued_at(uint64_t ns) {
  mlrun_block_part part{};
  part.head.tid = 7;
  part.queued_at_ns = ns;
  return part;
}

TEST(PartCalls, WhatLiesInACallWithoutARowIsNotOutside) {
  PartCalls calls;
  calls.add(queued_at(150));
  calls.add(queued_at(250));
  calls.sort();
  model::CallRow call;
  call.origin.tid = 7;
  call.origin.ts_ns = call.dur_ns = 100;
  calls.call(call, PartCalls::kUnlisted);
  EXPECT_EQ(calls.call_of(0), 0);
  EXPECT_FALSE(calls.is_outside(0));
  EXPECT_TRUE(calls.is_outside(1));
  EXPECT_FALSE(calls.is_outside(2)) << "beyond those that are joined";
}

TEST(OutsideReads, ReportBytesReadOutsideOfCallsAboveAThreshold) {
  mlrun_block_part part{};
  part.op = MLRUN_BLOCK_READ;
  part.request = 1;
  part.bytes = 1 << 20;
  model::TraceInfo info;
  model::FileRow file;
  info.files.push_back(file);
  file.path = "/data/mapped";
  info.files.push_back(file);
  OutsideReads reads;
  EXPECT_EQ(reads.add(part, 0, false), 0);
  reads.add_row(info);
  EXPECT_TRUE(info.coverage.empty());
  EXPECT_EQ(reads.add(part, 2, true), 256) << "pages";
  part.request = 0;
  EXPECT_EQ(reads.add(part, 0, true), 0) << "a bio of a stacked device";
  part.request = 2;
  part.op = MLRUN_BLOCK_WRITE;
  EXPECT_EQ(reads.add(part, 0, true), 0);
  reads.add_row(info);
  ASSERT_EQ(info.coverage.size(), 1u);
  EXPECT_EQ(info.coverage[0].seen, 1 << 20);
  EXPECT_EQ(info.coverage[0].kernel, 2 << 20);
  EXPECT_TRUE(info.coverage[0].detail.ends_with("; of /data/mapped (1.00 MiB)")) << info.coverage[0].detail;
}

// A static program that ends at once may have waited for nothing and read nothing.
TEST(SilentProcesses, AreTheCommandWhereThereAreNoRecords) {
  EXPECT_EQ(SilentProcesses(model::TraceInfo()).count(), 1);
  model::TraceInfo info;
  info.processes.resize(1);
  EXPECT_EQ(SilentProcesses(info).count(), 0);
}

TEST(SilentProcesses, AreThoseThatUsedFilesAndHaveNoRow) {
  model::TraceInfo info;
  info.processes.emplace_back().pid = 7;
  mlrun_block_part part{};
  part.head.pid = 7;
  SilentProcesses silent(info);
  silent.add(part);
  part.head.pid = 8;
  silent.add(part);
  silent.add(part);
  part.head.pid = 9;
  part.flags = MLRUN_BLOCK_WRITEBACK;
  silent.add(part);
  mlrun_wait wait{};
  wait.head.pid = 10;
  silent.add(wait);
  EXPECT_EQ(silent.count(), 1);
  SilentProcesses of_nobody{model::TraceInfo()};
  of_nobody.add(wait);
  EXPECT_EQ(of_nobody.count(), 1) << "the command itself";
}

}  // namespace
}  // namespace mlrun::trace
