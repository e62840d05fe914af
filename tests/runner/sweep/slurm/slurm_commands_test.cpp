// SPDX-License-Identifier: Apache-2.0
// What mlrun asks Slurm's programs and how it reads their answers; scripts of these names answer as Slurm does.
#include "runner/sweep/slurm/slurm_commands.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "runner/util/file_io.h"

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

class SlurmCommands : public testing::Test {
 protected:
  SlurmCommands()
      : folder_(testing::TempDir() + "slurm_commands_" + std::to_string(::getpid())), path_(::getenv("PATH")) {
    fs::create_directories(folder_);
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~SlurmCommands() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // The program prints `answer` and ends with `status`; its words are in asked().
  void answer(const std::string& program, const std::string& text, int status = 0) const {
    std::ofstream(folder_ + "/" + program + ".answer") << text;
    const std::string file = folder_ + "/" + program;
    std::ofstream(file) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > " << file << ".words\nenv > " << file
                        << ".environment\ncat " << file << ".answer\nexit " << status << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  [[nodiscard]] std::string asked(const std::string& program) const {
    return util::read_text(folder_ + "/" + program + ".words");
  }

  const std::string folder_, path_;
};

TEST_F(SlurmCommands, TasksOfTheQueueAreThoseThatSqueueLists) {
  answer("squeue", "mlrun-a 0 RUNNING\nmlrun-a 12 PENDING\nslurm_load_jobs: odd\nmlrun-b 3 COMPLETING\n");
  ::setenv("SQUEUE_STATES", "PENDING", 1);
  const auto tasks = tasks_in_queue({"mlrun-a", "mlrun-b"});
  ::unsetenv("SQUEUE_STATES");
  ASSERT_TRUE(tasks) << tasks.error().text;
  for (const ArrayTask& task : {ArrayTask{"mlrun-a", 0}, ArrayTask{"mlrun-a", 12}, ArrayTask{"mlrun-b", 3}})
    EXPECT_TRUE(tasks->contains(task)) << task.job_name << task.index;
  EXPECT_FALSE(tasks->contains({"mlrun-a", 1}));
  EXPECT_EQ(asked("squeue"), "--noheader\n--array\n--format=%j %K %T\n--name=mlrun-a,mlrun-b\n");
  EXPECT_EQ(util::read_text(folder_ + "/squeue.environment").find("SQUEUE_"), std::string::npos);
}

TEST_F(SlurmCommands, WithoutJobsTheQueueIsEmptyAndAFailedQueryIsAnError) {
  answer("squeue", "slurm_load_jobs error: Unable to contact slurm controller\n", 1);
  EXPECT_TRUE(tasks_in_queue({})->empty());
  EXPECT_EQ(asked("squeue"), "");
  EXPECT_EQ(tasks_in_queue({"mlrun-a"}).error().text,
            "squeue of Slurm failed: slurm_load_jobs error: Unable to contact slurm controller");
}

TEST_F(SlurmCommands, OurOptionsOfSbatchComeLast) {
  answer("sbatch", "sbatch: a site's own words\n4711;cluster\n");
  const auto job = submit_array("mlrun-a", 5, "/o/a.sh", "/o 50%a", {"--array=1-9%3", "--requeue", "--output=mine"});
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ(*job, "4711");
  EXPECT_EQ(asked("sbatch"),
            "--array=1-9%3\n--requeue\n--output=mine\n--parsable\n--no-requeue\n--job-name=mlrun-a\n"
            "--output=/o 50%%a/mlrun-a-%a.log\n--array=0-4%3\n/o/a.sh\n");
}

TEST_F(SlurmCommands, ARefusedArrayNamesItsReason) {
  answer("sbatch", "sbatch: error: invalid partition specified: nope\nTry --help\n", 1);
  EXPECT_EQ(submit_array("mlrun-a", 1, "s", "/o", {}).error().text,
            "sbatch of Slurm failed: sbatch: error: invalid partition specified: nope");
  answer("sbatch", "queued\n");
  EXPECT_EQ(submit_array("mlrun-a", 1, "s", "/o", {}).error().text, "sbatch of Slurm printed no job number: queued");
}

TEST_F(SlurmCommands, ArraysAreAsLargeAsTheConfigurationAllows) {
  answer("scontrol", "MaxArraySize            = 1001\nSchedulerParameters     = (null)\n");
  EXPECT_EQ(array_size_most(), 1000);
  answer("scontrol", "MaxArraySize            = 6\nSchedulerParameters     = bf_max_job_test=9,max_array_tasks=4\n");
  EXPECT_EQ(array_size_most(), 4);
  EXPECT_EQ(asked("scontrol"), "show\nconfig\n");
  answer("scontrol", "scontrol: error: no controller\n", 1);
  EXPECT_EQ(array_size_most(), 1000);
}

TEST_F(SlurmCommands, TheStateIsThatOfTheJobOfThisName) {
  answer("scontrol",
         "JobId=99 ArrayJobId=90 ArrayTaskId=4 JobName=mlrun-a UserId=u(1) JobState=NODE_FAIL Reason=None\n");
  EXPECT_EQ(state_of_task("90", {"mlrun-a", 4}), "NODE_FAIL");
  EXPECT_EQ(asked("scontrol"), "--oneliner\nshow\njob\n90_4\n");
  EXPECT_EQ(state_of_task("90", {"mlrun-b", 4}), "") << "a number that Slurm has used again";
  answer("scontrol", "slurm_load_jobs error: Invalid job id specified\n", 1);
  EXPECT_EQ(state_of_task("90", {"mlrun-a", 4}), "");
}

}  // namespace
}  // namespace mlrun::sweep
