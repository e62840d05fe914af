// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/log_tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::sums {
namespace {

class LogTailTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  std::string path_ = ::testing::TempDir() + "log_tail_test_" + std::to_string(::getpid()) + ".log";
};

TEST_F(LogTailTest, ReportsIntervalsOnceTheirLineIsComplete) {
  std::remove(path_.c_str());
  LogTail log({path_});
  EXPECT_TRUE(log.poll().empty());
  write("some text\n:::MLLOG {\"event_type\": \"INTERVAL_START\", \"time_");
  EXPECT_TRUE(log.poll().empty());
  write("ms\": 1700000000123}\n:::MLLOG {\"event_type\": \"POINT_IN_TIME\", \"time_ms\": 5}\n");
  ASSERT_EQ(log.poll().size(), 1u);
  write(":::MLLOG {\"event_type\": \"INTERVAL_END\", \"time_ms\": 1700000000456}\n");
  EXPECT_EQ(log.poll(), std::vector<int64_t>{1700000000456000000});
  EXPECT_TRUE(log.poll().empty());
}

TEST_F(LogTailTest, ContinuesWithATruncatedLog) {
  write(":::MLLOG {\"event_type\": \"INTERVAL_START\", \"time_ms\": 1, \"key\": \"a longer line\"}\n");
  LogTail log({path_});
  EXPECT_EQ(log.poll().size(), 1u);
  std::ofstream(path_, std::ios::trunc) << ":::MLLOG {\"event_type\": \"INTERVAL_END\", \"time_ms\": 2}\n";
  EXPECT_EQ(log.poll(), std::vector<int64_t>{2000000});
  std::remove(path_.c_str());
  EXPECT_TRUE(log.poll().empty());
}

TEST_F(LogTailTest, KnowsItsFileByDeviceAndInode) {
  write("text\n");
  LogTail log({"/nowhere/log", path_});
  (void)log.poll();
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  const auto device = static_cast<uint32_t>(status.st_dev);
  EXPECT_EQ(log.log_of(device, status.st_ino), 1);
  EXPECT_EQ(log.log_of(device, status.st_ino + 1), -1);
  EXPECT_EQ(log.log_of(device + 1, status.st_ino), -1);
  EXPECT_EQ(log.log_of(0, 0), -1) << "what the missing one has";
}

TEST_F(LogTailTest, PassesOverWhatMakesNoSense) {
  LogTail log({path_, "/nowhere/log", "/dev/zero"});
  write(":::MLLOG INTERVAL_START\n:::MLLOG {\"event_type\": \"INTERVAL_START\", \"time_ms\": \"now\"}\n");
  write(":::MLLOG {\"event_type\": \"INTERVAL_START\", \"time_ms\": -4}\n" + std::string(100, '\0') + "\n");
  EXPECT_TRUE(log.poll().empty());
}

}  // namespace
}  // namespace mlrun::sums
