// SPDX-License-Identifier: Apache-2.0
#include "runner/util/file_io.h"

#include <unistd.h>

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(FileIo, ALineEndsBeforeTheNewline) {
  const std::string path = testing::TempDir() + "mlrun_line_" + std::to_string(::getpid());
  for (const auto& [text, line] : {std::pair{"a b \n", "a b "}, {"a", "a"}, {"a\nb\n", "a"}, {"\n", ""}, {"", ""}}) {
    ASSERT_TRUE(write_atomically(path, text, 0600));
    EXPECT_EQ(read_line(path), line) << text;
  }
  ::unlink(path.c_str());
  EXPECT_EQ(read_line(path), "");
}

}  // namespace
}  // namespace mlrun::util
