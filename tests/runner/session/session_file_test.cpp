// SPDX-License-Identifier: Apache-2.0
#include "runner/session/session_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/runner/collect/session.h"

namespace mlrun::session {
namespace {

using collect::testing::Folder;

TEST(SessionFile, KnowsWhetherItsLeaderLives) {
  const Folder folder;
  SessionFile session(folder.path);
  ASSERT_TRUE(session.write());
  auto read = SessionFile::read(folder.path);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->leader_lives());
  read->data["leader"]["start_ticks"] = 1;  // another process had the number
  EXPECT_FALSE(read->leader_lives());
  read->data["leader"]["boot_id"] = "another";
  EXPECT_FALSE(read->same_boot());
}

TEST(SessionFile, ADamagedOneIsAnError) {
  const Folder folder;
  EXPECT_FALSE(SessionFile::read(folder.path));
  std::ofstream(folder.path + "/session.json") << "{\"leader\": [";
  EXPECT_FALSE(SessionFile::read(folder.path));
  std::ofstream(folder.path + "/session.json") << "{\"leader\": {\"pid\": \"x\"}}";
  EXPECT_FALSE(SessionFile::read(folder.path)->leader_lives());
}

}  // namespace
}  // namespace mlrun::session
