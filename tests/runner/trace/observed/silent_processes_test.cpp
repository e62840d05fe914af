// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/silent_processes.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

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
  mlrun_bio_fragment fragment{};
  fragment.head.pid = 7;
  SilentProcesses silent(info);
  silent.add(fragment);
  fragment.head.pid = 8;
  silent.add(fragment);
  silent.add(fragment);
  fragment.head.pid = 9;
  fragment.flags = MLRUN_BLOCK_WRITEBACK;
  silent.add(fragment);
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
