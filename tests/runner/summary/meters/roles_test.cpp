// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/roles.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "runner/events/record.h"

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

  void makes_folder(int32_t proc_id, std::string path) {
    model::FileRow row;
    row.file_id = static_cast<int64_t>(info_.files.size()) + 1;
    row.path = std::move(path);
    info_.files.push_back(row);
    made_[proc_id].push_back(row.file_id);
  }

  std::string role(int32_t proc_id, int64_t bytes_read = 0, int64_t bytes_written = 0) const {
    const ProcessTree tree(info_.processes);
    return roles(info_, tree,
                 [&](int32_t process) {
                   Deeds deeds;
                   deeds.files.bytes_read = bytes_read;
                   deeds.files.bytes_written = bytes_written;
                   if (const auto made = made_.find(process); made != made_.end()) deeds.made_folders = made->second;
                   return deeds;
                 })
        .at(proc_id);
  }

  model::TraceInfo info_;
  std::map<int32_t, std::vector<int64_t>> made_;
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

TEST_F(RolesTest, ASelfAssignedRankDoesNotMakeTheCommandARank) {
  model::ProcessRow& command = add(1, 0, "python train.py");
  command.rank = 0;
  EXPECT_EQ(role(1), "main");
  command.launcher = MLRUN_LAUNCHER_SLURM;
  EXPECT_EQ(role(1), "rank 0");
  command.launcher = MLRUN_LAUNCHER_NONE;
  add(2, 1, "python -c from multiprocessing.spawn import spawn_main; spawn_main()").rank = 1;
  EXPECT_EQ(role(2), "rank 1");
}

constexpr const char* kForkServer =
    "python -B -c from multiprocessing.forkserver import main; main(11, 12, ['__main__'], **{})";

TEST_F(RolesTest, DoesNotJudgeAForkedProcessByTheCommandLineThatItInherited) {
  add(1, 0, "python train.py");
  add(2, 1, kForkServer);
  runs_python(2);
  add(3, 2, kForkServer, true);
  add(4, 2, kForkServer, true);
  info_.threads.push_back({7, 3, 2, 50, 0, 0, "pt_data_worker"});
  EXPECT_EQ(role(2, 10), "fork server");
  EXPECT_EQ(role(3, 10), "DataLoader worker");
  EXPECT_EQ(role(4, 10), "data worker");
  EXPECT_EQ(role(4, 10, 10), "child");
}

TEST_F(RolesTest, KnowsWorkersAndTheirHelpersByWhatTheyWereStartedAs) {
  static constexpr std::pair<const char*, const char*> kStarted[] = {
      {"python -m joblib.externals.loky.backend.popen_loky_posix --process-name LokyProcess-1 --pipe 14",
       "loky worker"},
      {"/v/bin/python3 -B -W ignore -m loky.backend.popen_loky_posix --pipe 14", "loky worker"},
      {"python -B -c from joblib.externals.loky.backend.resource_tracker import main; main(3, False)",
       "resource tracker"},
      {"python -c from multiprocess.forkserver import main; main(3)", "fork server"},
      {"python3 /v/bin/torchrun --nproc-per-node 2 t.py", "elastic agent"},
      {"python3 -X dev -m torch.distributed.run t.py", "elastic agent"},
      {"python /v/bin/dask worker tcp://h:1 --no-nanny", "dask worker"},
      {"python /v/bin/dask scheduler", "dask scheduler"},
      {"/v/bin/python -u /s/ray/_private/workers/default_worker.py --node-ip-address=10.0.0.1", "ray worker"},
      {"/s/ray/core/src/ray/gcs/gcs_server --log_dir=/tmp", "ray gcs_server"},
      {"/s/ray/core/src/ray/raylet/raylet --raylet_socket_name=x", "raylet"},
      {"grep -r multiprocessing.forkserver .", "child"},
      {"python tests.py --only loky.backend.popen_loky_posix", "child"},
      {"bash -c python -m joblib.externals.loky.backend.popen_loky_posix", "child"},
      {"", "child"},
  };
  add(1, 0, "sh run.sh");
  int32_t proc_id = 1;
  for (const auto& [command, role] : kStarted) add(++proc_id, 1, command);
  proc_id = 1;
  for (const auto& [command, wanted] : kStarted) EXPECT_EQ(role(++proc_id, 10, 10), wanted) << command;
}

TEST_F(RolesTest, KnowsADaskWorkerByTheFolderThatItMadeForItself) {
  const char* spawned =
      "python -c from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=3) --multiprocessing-fork";
  add(1, 0, "python main.py");
  add(2, 1, spawned);
  add(3, 1, spawned);
  add(4, 0, "python /v/bin/dask worker tcp://h:1");
  add(5, 4, spawned);
  makes_folder(1, "/tmp/dask-scratch-space");
  makes_folder(2, "/tmp/dask-scratch-space/worker-nsb069wk");
  makes_folder(3, "/data/worker-1");
  makes_folder(5, "/tmp/dask-worker-space/worker-ab");
  EXPECT_EQ(role(1), "main");
  EXPECT_EQ(role(2, 10, 10), "dask worker");
  EXPECT_EQ(role(3, 10, 10), "child");
  EXPECT_EQ(role(4), "dask nanny");
  EXPECT_EQ(role(5, 10, 10), "dask worker");
}

TEST_F(RolesTest, ALauncherInABatchJobIsNotARank) {
  const auto number = [&](int32_t proc_id, int32_t parent, int32_t rank, uint32_t launcher) {
    model::ProcessRow& row = add(proc_id, parent, "x");
    row.rank = rank;
    row.launcher = launcher;
  };
  number(1, 0, 0, MLRUN_LAUNCHER_SLURM);  // the batch script
  number(2, 1, 0, MLRUN_LAUNCHER_SLURM);  // mpirun
  number(3, 2, 0, MLRUN_LAUNCHER_OPEN_MPI);
  number(4, 2, 1, MLRUN_LAUNCHER_OPEN_MPI);
  number(5, 4, 1, MLRUN_LAUNCHER_TORCH);  // its parent has set RANK for it
  EXPECT_EQ(role(1), "main");
  EXPECT_EQ(role(2), "child");
  EXPECT_EQ(role(3), "rank 0");
  EXPECT_EQ(role(4), "rank 1");
  EXPECT_EQ(role(5), "child");
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
