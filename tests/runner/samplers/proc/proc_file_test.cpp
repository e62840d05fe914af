// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/proc_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::proc {
namespace {

TEST(ProcFile, AMissingFileGivesNothing) {
  std::array<char, 64> room;
  EXPECT_EQ(ProcFile("/proc/none").read(room.data(), room.size()), "");
  EXPECT_FALSE(ProcFile().is_open());
}

TEST(ProcFile, IsReadAgainFromItsBeginning) {
  std::array<char, 4096> room;
  const ProcFile file("/proc/self/stat");
  const std::string first(file.read(room.data(), room.size()));
  EXPECT_EQ(first.substr(0, first.find(' ')), std::to_string(::getpid()));
  EXPECT_EQ(file.read(room.data(), room.size()).substr(0, 3), first.substr(0, 3));
}

TEST(ProcFile, ATextOfAnyLengthIsReadCompletelyAndLinesAreNotSplit) {
  const std::string path = ::testing::TempDir() + "proc_file_" + std::to_string(::getpid());
  const std::string line(99, 'x');
  std::vector<char> room;
  for (const size_t lines : {1, 41, 3000, 200'000}) {  // 100 bytes to 20 MB
    std::ofstream file(path);
    for (size_t i = 0; i < lines; ++i) file << line << '\n';
    file.close();
    const std::string_view text = ProcFile(path).read(room);
    EXPECT_EQ(text.size() % 100, 0u) << lines;
    EXPECT_EQ(text.size(), std::min<size_t>(lines * 100, (16 << 20) / 100 * 100)) << lines;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(ProcFile(path).read(room), "");
}

TEST(Numbers, AreReadInTheirOrder) {
  uint64_t a = 0, b = 0, c = 0;
  Numbers numbers("cpu  12 -34\n");
  EXPECT_TRUE(numbers.next(a) && numbers.next(b) && !numbers.next(c));
  EXPECT_EQ(a, 12u);
  EXPECT_EQ(b, 34u);
}

TEST(Numbers, AreFoundByTheirKey) {
  uint64_t value = 0;
  EXPECT_TRUE(number_after("x_throttled 1\nnr_throttled 5\n", "throttled ", value) == false);
  EXPECT_TRUE(number_after("nr_periods 3\nnr_throttled 5\n", "nr_throttled ", value));
  EXPECT_EQ(value, 5u);
  EXPECT_TRUE(number_after("some avg10=0.00 total=77\n", "total=", value));
  EXPECT_EQ(value, 77u);
}

}  // namespace
}  // namespace mlrun::proc
