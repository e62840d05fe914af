// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/trace_name.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::launch {
namespace {

TEST(TraceName, IsThatOfTheScript) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"python", "train.py", "--lr", "1"}, "train"},
      {{"/usr/bin/python3.11", "-u", "/data/train.py"}, "train"},
      {{"python3", "-W", "ignore", "-X", "dev", "-Oum", "pkg.mod", "x.py"}, "pkg.mod"},
      {{"python", "-mpkg.train"}, "pkg.train"},
      {{"python", "-m", "pkg.__main__"}, "pkg"},
      {{"python", "pkg/__main__.py"}, "pkg"},
      {{"python", "tool/"}, "tool"},
      {{"python", "-c", "password='abc.py'"}, "python"},
      {{"python", "-"}, "python"},
      {{"python"}, "python"},
      {{"python", "-m", "torch.distributed.run", "--nproc_per_node", "2", "train.py"}, "train"},
      {{"torchrun", "--nproc_per_node", "2", "--standalone", "fine.tune.py", "--x", "y.py"}, "fine.tune"},
      {{"torchrun", "--no-python", "bash", "-e", "run.sh"}, "run"},
      {{"accelerate", "launch", "--config_file", "c.yaml", "train.py"}, "train"},
      {{"bash", "-o", "pipefail", "-e", "run.sh", "a"}, "run"},
      {{"bash", "-c", "python train.py"}, "bash"},
      {{"sh", "/dev/fd/63"}, "sh"},
      {{"env", "HF_TOKEN=secret.py", "python", "train.py"}, "train"},
      {{"timeout", "60", "python3", "-u", "train.py"}, "train"},
      {{"nohup", "./app", "--token", "x"}, "nohup"},
      {{"mpirun", "--auth-token", "hunter2.py", "-n", "2", "python", "a.py"}, "a"},
      {{"./train.py"}, "train.py"},
      {{"/opt/bin/app", "train.py"}, "app"},
      {{"node", "serve.js"}, "serve"},
      {{"pythonic", "train.py"}, "pythonic"},
      {{}, "run"},
  };
  for (const auto& [command, name] : cases) {
    EXPECT_EQ(trace_name(command), name) << (command.empty() ? "" : command.front());
  }
}

}  // namespace
}  // namespace mlrun::launch
