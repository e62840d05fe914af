// SPDX-License-Identifier: Apache-2.0
#include "runner/session/job_facts.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mlrun::session {
namespace {

struct Variable {
  const char *key, *name;
};
constexpr const char *kRank = "rank", *kLocalRank = "local_rank", *kWorldSize = "world_size";
constexpr Variable kVariables[] = {
#define VARIABLE(name, number, launcher) {number, name},
#include "runner/events/launchers.def"
};

class JobFactsTest : public ::testing::Test {
 protected:
  JobFactsTest() {
    for (const Variable& variable : kVariables) ::unsetenv(variable.name);
  }
  ~JobFactsTest() override {
    for (const Variable& variable : kVariables) ::unsetenv(variable.name);
  }
};

TEST_F(JobFactsTest, HaveTheNumbersOfEveryLauncher) {
  for (const Variable& variable : kVariables) {
    ::setenv(variable.name, "5", 1);
    const nlohmann::json job = job_facts();
    EXPECT_EQ(job.value(variable.key, -1), 5) << variable.name;
    EXPECT_EQ(job["source"].value(variable.key, ""), variable.name);
    ::unsetenv(variable.name);
  }
}

TEST_F(JobFactsTest, HaveTheRankOfTheInnermostLauncher) {
  ::setenv("SLURM_PROCID", "0", 1);
  ::setenv("SLURM_NPROCS", "4", 1);
  ::setenv("MV2_COMM_WORLD_RANK", "3", 1);
  const nlohmann::json job = job_facts();
  EXPECT_EQ(job.value("rank", -1), 3);
  EXPECT_EQ(job["source"].value("rank", ""), "MV2_COMM_WORLD_RANK");
  EXPECT_EQ(job.value("world_size", -1), 4);
}

}  // namespace
}  // namespace mlrun::session
