// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/slurm/task_files.h"

#include <cmath>
#include <fstream>

#include "tests/runner/sweep/store/store_kit.h"

namespace mlrun::sweep {
namespace {

class TaskFiles : public InFolder {
 protected:
  TaskFiles() { std::filesystem::create_directories(slurm_folder(folder_)); }

  static RunRow ended_run() {
    RunRow run;
    run.id = 7;
    run.planned = runs_of(small_plan())[4];
    run.attempt = 2;
    run.state = RunState::kFailed;
    run.exit_status = 137;
    run.started_realtime_ns = 1'700'000'000'000'000'001;
    run.ended_realtime_ns = 1'700'000'000'000'000'009;
    run.pid = 4711;
    run.failure = "ended by signal 9";
    run.interrupted = true;
    run.figures = {{"wall_s", 0.1}, {"unknown", std::nan("")}};
    run.machine = {{"load_1m", 2}};
    run.facts = {{"node", "n1"}};
    return run;
  }
};

TEST_F(TaskFiles, EveryMemberOfAStatusIsReadBack) {
  const RunRow run = ended_run();
  ASSERT_TRUE(write_status(folder_, {run, "mlrun-a", "90", "n1"}));
  const auto status = read_status(folder_, run);
  ASSERT_TRUE(status && *status);
  const RunRow& back = (*status)->run;
  EXPECT_EQ((*status)->job_name, "mlrun-a");
  EXPECT_EQ((*status)->job_id, "90");
  EXPECT_EQ((*status)->node, "n1");
  EXPECT_EQ(back.id, run.id);
  EXPECT_EQ(back.planned.block, run.planned.block);
  EXPECT_EQ(back.planned.position, run.planned.position);
  EXPECT_EQ(back.planned.configuration, run.planned.configuration);
  EXPECT_EQ(back.planned.workload, run.planned.workload);
  EXPECT_EQ(back.planned.command, run.planned.command);
  EXPECT_EQ(back.planned.folder, run.planned.folder);
  EXPECT_EQ(back.attempt, run.attempt);
  EXPECT_EQ(back.state, run.state);
  EXPECT_EQ(back.exit_status, run.exit_status);
  EXPECT_EQ(back.started_realtime_ns, run.started_realtime_ns);
  EXPECT_EQ(back.ended_realtime_ns, run.ended_realtime_ns);
  EXPECT_EQ(back.pid, run.pid);
  EXPECT_EQ(back.failure, run.failure);
  EXPECT_EQ(back.interrupted, run.interrupted);
  EXPECT_EQ(back.figures, (Figures{{"wall_s", 0.1}}));
  EXPECT_EQ(back.machine, run.machine);
  EXPECT_EQ(back.facts, run.facts);
}

TEST_F(TaskFiles, ARunThatHasNotBegunHasNoStatus) {
  RunRow run = ended_run();
  ASSERT_TRUE(write_status(folder_, {run, "mlrun-a", "90", "n1"}));
  run.attempt++;
  const auto status = read_status(folder_, run);
  ASSERT_TRUE(status);
  EXPECT_FALSE(*status);
}

TEST_F(TaskFiles, SubmissionsAreReadBackSeparatelyFromStatuses) {
  RunRow planned;
  planned.planned = runs_of(small_plan())[0];
  ASSERT_TRUE(write_submission(folder_, small_plan(), {"mlrun-a", "90", {planned, ended_run()}}));
  ASSERT_TRUE(write_submission(folder_, small_plan(), {"mlrun-b", "", {planned}}));
  ASSERT_TRUE(write_status(folder_, {ended_run(), "mlrun-a", "90", "n1"}));
  const auto all = read_submissions(folder_);
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(all->size(), 2u);
  const auto one = read_submission(submission_path(folder_, "mlrun-a"));
  ASSERT_TRUE(one) << one.error().text;
  EXPECT_EQ(one->plan.hash, small_plan().hash);
  EXPECT_EQ(one->submission.job_id, "90");
  ASSERT_EQ(one->submission.tasks.size(), 2u);
  EXPECT_EQ(one->submission.tasks[0].exit_status, std::nullopt);
  EXPECT_EQ(one->submission.tasks[1].planned.folder, ended_run().planned.folder);
}

TEST_F(TaskFiles, ADamagedFileIsAnErrorThatNamesIt) {
  const RunRow run = ended_run();
  const std::string path = slurm_folder(folder_) + "/" + std::to_string(run.planned.position) + ".2.json";
  for (const char* text : {"", "{", "[]", "{}", "{\"id\": \"x\"}"}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_EQ(read_status(folder_, run).error().text.find(path + " is damaged"), 0u) << text;
  }
}

}  // namespace
}  // namespace mlrun::sweep
