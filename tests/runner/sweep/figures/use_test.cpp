// SPDX-License-Identifier: Apache-2.0
// time.log against what GNU time's manual says of its default format.
#include "runner/sweep/figures/use.h"

#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

std::string elapsed_of(double wall_s) {
  Use use;
  use.wall_s = wall_s;
  const std::string log = time_log(use);
  const size_t end = log.find("elapsed");
  return log.substr(log.rfind(' ', end) + 1, end - log.rfind(' ', end) - 1);
}

TEST(TimeLog, ElapsedTimesOfMinutesAndHoursAreRight) {
  EXPECT_EQ(elapsed_of(1.239), "0:01.23");
  EXPECT_EQ(elapsed_of(59.999), "0:59.99");
  EXPECT_EQ(elapsed_of(754.56), "12:34.56");
  EXPECT_EQ(elapsed_of(3599.99), "59:59.99");
  EXPECT_EQ(elapsed_of(3723), "1:02:03");
  EXPECT_EQ(elapsed_of(90061), "25:01:01");
}

TEST(TimeLog, HasTheFormatOfGnuTime) {
  Use use;
  use.wall_s = 2;
  use.user_s = 1.5;
  use.sys_s = 0.25;
  use.max_rss_bytes = 2048.0 * 1024;
  use.major_faults = 3;
  use.minor_faults = 400;
  use.input_blocks = 16;
  use.output_blocks = 8;
  const std::string end =
      "1.50user 0.25system 0:02.00elapsed 87%CPU (0avgtext+0avgdata 2048maxresident)k\n"
      "16inputs+8outputs (3major+400minor)pagefaults 0swaps\n";
  EXPECT_EQ(time_log(use), end);
  use.wait_status = 3 << 8;
  EXPECT_EQ(time_log(use), "Command exited with non-zero status 3\n" + end);
  use.wait_status = 9;
  EXPECT_EQ(time_log(use), "Command terminated by signal 9\n" + end);
}

TEST(TimeLog, OfNoTimeHasNoShare) { EXPECT_NE(time_log({}).find("0:00.00elapsed ?%CPU"), std::string::npos); }

}  // namespace
}  // namespace mlrun::sweep
