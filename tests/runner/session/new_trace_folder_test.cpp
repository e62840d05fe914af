// SPDX-License-Identifier: Apache-2.0
#include "runner/session/new_trace_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/runner/collect/session.h"

namespace mlrun::session {
namespace {

using collect::testing::Folder;

TEST(TraceFolder, TakesTheFirstFreeNumber) {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  std::filesystem::create_directory("mlrun-py-thon-2");
  EXPECT_EQ(*make_trace_folder({}, "/usr/bin/py thon"), folder.path + "/mlrun-py-thon-1");
  EXPECT_EQ(*make_trace_folder({}, "py thon"), folder.path + "/mlrun-py-thon-3");
  std::filesystem::current_path(before);
}

TEST(TraceFolder, IsNeverOneThatHoldsSomething) {
  const Folder folder;
  EXPECT_TRUE(make_trace_folder(folder.path + "/new/deep", "x"));
  EXPECT_TRUE(make_trace_folder(folder.path + "/new/deep", "x"));  // empty
  std::ofstream(folder.path + "/new/deep/file") << "x";
  EXPECT_FALSE(make_trace_folder(folder.path + "/new/deep", "x"));
  EXPECT_FALSE(make_trace_folder(folder.path + "/new/deep/file", "x"));
}

}  // namespace
}  // namespace mlrun::session
