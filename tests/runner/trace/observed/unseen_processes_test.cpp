// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/observed/unseen_processes.h"

#include <gtest/gtest.h>

namespace mlrun::trace {
namespace {

// A static program that ends at once may have waited for nothing and read nothing.
TEST(UnseenProcesses, AreTheCommandWhereThereAreNoRecords) {
  EXPECT_EQ(UnseenProcesses(model::TraceInfo()).count(), 1);
  model::TraceInfo info;
  info.processes.resize(1);
  EXPECT_EQ(UnseenProcesses(info).count(), 0);
}

TEST(UnseenProcesses, AreThoseThatUsedFilesAndHaveNoRow) {
  model::TraceInfo info;
  info.processes.emplace_back().pid = 7;
  mlrun_bio_fragment fragment{};
  fragment.head.pid = 7;
  UnseenProcesses unseen(info);
  unseen.add(fragment);
  fragment.head.pid = 8;
  unseen.add(fragment);
  unseen.add(fragment);
  fragment.head.pid = 9;
  fragment.flags = MLRUN_BLOCK_WRITEBACK;
  unseen.add(fragment);
  mlrun_wait wait{};
  wait.head.pid = 10;
  unseen.add(wait);
  EXPECT_EQ(unseen.count(), 1);
  UnseenProcesses of_nobody{model::TraceInfo()};
  of_nobody.add(wait);
  EXPECT_EQ(of_nobody.count(), 1) << "the command itself";
}

}  // namespace
}  // namespace mlrun::trace
