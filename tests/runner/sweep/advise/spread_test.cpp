// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/spread.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mlrun::sweep {
namespace {

namespace fs = std::filesystem;

// A /sys of two nodes whose firmware tells these bandwidths, in MB/s; 0: none.
class System {
 public:
  System(int first, int second) {
    char name[] = "/tmp/mlrun-spread-XXXXXX";
    folder_ = ::mkdtemp(name);
    for (const auto& [node, bandwidth] : {std::pair{0, first}, std::pair{1, second}}) {
      const fs::path where = folder_ / fmt::format("devices/system/node/node{}/access0/initiators", node);
      fs::create_directories(where);
      if (bandwidth > 0) std::ofstream(where / "read_bandwidth") << bandwidth << '\n';
    }
  }
  ~System() { fs::remove_all(folder_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  [[nodiscard]] std::string folder() const { return folder_.string(); }

 private:
  fs::path folder_;
};

std::string by_firmware(int first, int second, const char* fast, const char* slow) {
  const System system(first, second);
  const auto spread = find_spread(fast, slow, "", system.folder());
  return spread ? spread->target : spread.error().text;
}

TEST(Spread, TheRatioIsThatOfTheBandwidthsInSmallNumbers) {
  EXPECT_EQ(by_firmware(100000, 400000, "node 1", "node 0"), "1:4 node 0,1");
  EXPECT_EQ(by_firmware(400000, 100000, "node 0", "node 1"), "4:1 node 0,1");
  EXPECT_EQ(by_firmware(200000, 30000, "node 0", "node 1"), "13:2 node 0,1");  // 6.67
  EXPECT_EQ(by_firmware(100000, 101000, "node 0", "node 1"), "1:1 node 0,1");
}

TEST(Spread, ABandwidthManyTimesTheOtherGetsTheLargestRatio) {
  EXPECT_EQ(by_firmware(400000, 20000, "node 0", "node 1"), "16:1 node 0,1");
  EXPECT_EQ(by_firmware(20000, 400000, "node 0", "node 1"), "1:16 node 0,1");
  EXPECT_EQ(by_firmware(1000000, 1000, "node 0", "node 1"), "16:1 node 0,1");
  EXPECT_EQ(by_firmware(1000, 1000000, "node 0", "node 1"), "1:16 node 0,1");
  EXPECT_EQ(by_firmware(160000, 10000, "node 0", "node 1"), "16:1 node 0,1");
}

TEST(Spread, WithoutBandwidthsOrTwoNodesThereIsNoneAndTheReasonIsGiven) {
  const System none(100000, 0);
  const auto unknown = find_spread("node 0", "node 1", "", none.folder());
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->target, "");
  EXPECT_NE(unknown->why.find("--spread N:M"), std::string::npos);
  const auto several = find_spread("node 0", "node 1-2", "", none.folder());
  ASSERT_TRUE(several);
  EXPECT_EQ(several->target, "");
}

TEST(Spread, AGivenRatioIsFastToSlow) {
  const auto spread = find_spread("node 3", "node 1", "3:1", "/nowhere");
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->target, "1:3 node 1,3");
  EXPECT_DOUBLE_EQ(spread->fast_share, 0.75);
}

TEST(Spread, AnInvalidRatioIsAnError) {
  for (const char* ratio : {"3", "3:", ":1", "0:1", "3:1:1", "-1:1", "2000:1", "a:b"})
    EXPECT_FALSE(find_spread("node 0", "node 1", ratio, "/nowhere")) << ratio;
  EXPECT_FALSE(find_spread("huge", "default", "3:1", "/nowhere"));
}

}  // namespace
}  // namespace mlrun::sweep
