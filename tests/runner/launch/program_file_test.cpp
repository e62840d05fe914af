// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/program_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/runner/collect/session.h"

namespace mlrun::launch {
namespace {

using collect::testing::Folder;

TEST(ProgramFile, IsFoundAndJudgedAsTheKernelWould) {
  const Folder folder;
  EXPECT_TRUE(look_at_program("sh").can_be_preloaded);
  EXPECT_TRUE(look_at_program(folder.path + "/missing").can_be_preloaded);
  const std::string foreign = folder.path + "/foreign", script = folder.path + "/script";
  std::filesystem::copy_file("/bin/true", foreign);
  std::fstream(foreign, std::ios::in | std::ios::out | std::ios::binary).seekp(18).put(static_cast<char>(243)).put(0);
  EXPECT_FALSE(look_at_program(foreign).can_be_preloaded);
  std::ofstream(script) << "#! " << foreign << " argument\n";
  EXPECT_FALSE(look_at_program(script).can_be_preloaded);
  std::ofstream(script) << "#!";
  EXPECT_TRUE(look_at_program(script).can_be_preloaded);
}

}  // namespace
}  // namespace mlrun::launch
