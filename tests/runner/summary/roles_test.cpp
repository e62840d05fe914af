// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/roles.h"

#include <gtest/gtest.h>

namespace mlrun::summary {
namespace {

class RolesTest : public ::testing::Test {
 protected:
  model::ProcessRow& add(int32_t proc_id, int32_t parent, std::string command, bool forked = false) {
    model::ProcessRow& row = info_.processes.emplace_back();
    row.proc_id = proc_id;
    row.parent_proc_id = parent;
    row.first_ns = proc_id;
    row.command = std::move(command);
    row.forked = forked;
    return row;
  }
  void runs_python(int32_t proc_id) {
    info_.images.push_back({proc_id, proc_id, 0, "/opt/bin/python3.11", "", "", ""});
  }

  std::string role(int32_t proc_id, int64_t bytes_read = 0, int64_t bytes_written = 0) const {
    const ProcessTree tree(info_.processes);
    return roles(info_, tree,
                 [&](int32_t) {
                   Totals totals;
                   totals.bytes_read = bytes_read;
                   totals.bytes_written = bytes_written;
                   return totals;
                 })
        .at(proc_id);
  }

  model::TraceInfo info_;
};

TEST_F(RolesTest, TakesTheFirstRootForMain) {
  add(2, 0, "late");
  add(1, 0, "train");
  EXPECT_EQ(role(1), "main");
  EXPECT_EQ(role(2), "child");
}

TEST_F(RolesTest, KnowsALoaderWorkerByTheNameOfItsThread) {
  add(1, 0, "python train.py");
  add(2, 1, "python train.py", true);
  info_.threads.push_back({7, 2, 1, 50, 0, 0, "pt_data_worker"});
  EXPECT_EQ(role(2, 0, 5), "DataLoader worker");
}

TEST_F(RolesTest, TakesAForkedPythonThatOnlyReadsForADataWorker) {
  add(1, 0, "torchrun train.py");
  runs_python(1);
  add(2, 1, "torchrun train.py", true);
  add(3, 2, "torchrun train.py", true);
  EXPECT_EQ(role(2, 100, 0), "data worker");
  EXPECT_EQ(role(3, 100, 0), "data worker");  // its parent is the same Python
  EXPECT_EQ(role(2, 100, 1), "child");
  EXPECT_EQ(role(2, 0, 0), "child");
}

TEST_F(RolesTest, LeavesForkedChildrenOfOtherProgramsAlone) {
  add(1, 0, "make");
  info_.images.push_back({1, 1, 0, "/usr/bin/make", "", "", ""});
  add(2, 1, "make", true);
  EXPECT_EQ(role(2, 100, 0), "child");
}

TEST_F(RolesTest, KnowsTheHelpersOfMultiprocessing) {
  add(1, 0, "python train.py");
  add(2, 1, "python -c from multiprocessing.spawn import spawn_main; spawn_main() --multiprocessing-fork");
  add(3, 1, "python -c from multiprocessing.resource_tracker import main;main(5)");
  add(4, 1, "python -c from multiprocessing.forkserver import main; main()");
  EXPECT_EQ(role(2, 10, 0), "data worker");
  EXPECT_EQ(role(2, 10, 1), "child");
  EXPECT_EQ(role(3, 10, 0), "resource tracker");
  EXPECT_EQ(role(4), "fork server");
}

TEST_F(RolesTest, NumbersRanksButNotTheirChildren) {
  add(1, 0, "torchrun");
  add(2, 1, "python train.py").rank = 0;
  add(3, 1, "python train.py").rank = 1;
  add(4, 3, "sh -c nvidia-smi").rank = 1;
  EXPECT_EQ(role(1), "main");
  EXPECT_EQ(role(2), "rank 0");
  EXPECT_EQ(role(3), "rank 1");
  EXPECT_EQ(role(4), "child");
}

TEST(ProcessTreeTest, PutsParentsBeforeChildrenAndSurvivesACycle) {
  std::vector<model::ProcessRow> rows(4);
  const int32_t parents[] = {3, 1, 2, 9};
  for (int32_t i = 0; i < 4; ++i) {
    rows[size_t(i)].proc_id = i + 1;
    rows[size_t(i)].parent_proc_id = parents[i];
    rows[size_t(i)].first_ns = 10 - i;
  }
  const ProcessTree tree(rows);
  EXPECT_EQ(tree.order().size(), 4u);
  EXPECT_EQ(tree.parent(4), 0);
  EXPECT_TRUE(tree.within(2, 2));
  EXPECT_FALSE(tree.within(4, 1));
}

}  // namespace
}  // namespace mlrun::summary
