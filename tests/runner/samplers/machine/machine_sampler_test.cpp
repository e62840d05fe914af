// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/machine_sampler.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/util/unique_fd.h"
#include "tests/runner/samplers/machine/sampled_files.h"

namespace mlrun::machine {
namespace {

// A file of /proc whose reading does not return.
TEST_F(SampledFiles, ASamplerThatDoesNotEndInTimeSaysSo) {
  const std::string stat = places_.proc + "/stat";
  ASSERT_EQ(::mkfifo(stat.c_str(), 0600), 0);
  MachineSampler sampler({.hz = 10, .sources = {"cpu"}}, places_);
  sampler.stop();
  const MachineState state = sampler.state();
  const util::UniqueFd writer(::open(stat.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));  // now it does
  std::filesystem::remove(stat);
  EXPECT_NE(state.problem.find("took longer than 1 s"), std::string::npos) << state.problem;
}

TEST_F(SampledFiles, ASamplerThatEndsInTimeHasNoProblem) {
  put("proc/stat", "cpu0 1 2 3 4 5 6 7 8 9 10\n");
  MachineSampler sampler({.hz = 10, .sources = {"cpu"}}, places_);
  sampler.stop();
  EXPECT_EQ(sampler.state().problem, "");
}

}  // namespace
}  // namespace mlrun::machine
