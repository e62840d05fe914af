// SPDX-License-Identifier: Apache-2.0
#include "runner/util/similar.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(Similar, NamesOnlyCloseMatches) {
  const std::vector<std::string> verbs = {"run", "report", "show", "list", "recover"};
  EXPECT_EQ(most_similar("repotr", verbs), "report");
  EXPECT_EQ(most_similar("lsit", verbs), "list");
  EXPECT_EQ(most_similar("rnu", verbs), "run");
  EXPECT_EQ(most_similar("python", verbs), "");
  EXPECT_EQ(most_similar("ls", verbs), "");
  EXPECT_EQ(most_similar("", verbs), "");
  EXPECT_EQ(edit_distance("calls", "call"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

}  // namespace
}  // namespace mlrun::util
