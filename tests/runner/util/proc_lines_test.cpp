// SPDX-License-Identifier: Apache-2.0
#include "runner/util/proc_lines.h"

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(ProcLines, AMapOfAFileHasItsPathWithBlanks) {
  const auto map = maps_line("7f2c00000000-7f2c00021000 r-xp 00001000 fe:01 12345                      /a b (deleted)");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->range, "7f2c00000000-7f2c00021000");
  EXPECT_EQ(map->start, 0x7f2c00000000);
  EXPECT_EQ(map->rights, "r-xp");
  EXPECT_EQ(map->end, 0x7f2c00021000);
  EXPECT_EQ(map->file_offset, 0x1000);
  EXPECT_EQ(map->major, 0xfe);
  EXPECT_EQ(map->minor, 1);
  EXPECT_EQ(map->inode, 12345);
  EXPECT_EQ(map->path, "/a b (deleted)");
  EXPECT_TRUE(map->is_code && map->has_file());
}

TEST(ProcLines, AMapWithoutAFileHasNone) {
  const auto nameless = maps_line("7ffe1000-7ffe2000 rw-p 00000000 00:00 0 ");
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->path, "");
  EXPECT_FALSE(nameless->is_code || nameless->has_file());
  const auto ring = maps_line("7f00-7f01 rw-s 00000000 00:0f 2059                             anon_inode:[io_uring]");
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->path, "anon_inode:[io_uring]");
  EXPECT_FALSE(ring->has_file());
}

TEST(ProcLines, AMountHasItsTypeBehindAnyNumberOfOptionalFields) {
  for (const char* optional : {"", "shared:9 ", "shared:9 master:1 "}) {
    const std::string line =
        "31 24 0:27 /root /a\\040b rw,nosuid " + std::string(optional) + "- fuse.sshfs host rw,cpu";
    const auto mount = mount_line(line);
    ASSERT_TRUE(mount) << line;
    EXPECT_EQ(mount->id, 31);
    EXPECT_EQ(mount->major, 0);
    EXPECT_EQ(mount->minor, 27);
    EXPECT_EQ(mount->root, "/root");
    EXPECT_EQ(mount->point, "/a\\040b");
    EXPECT_EQ(mount->file_system, "fuse.sshfs");
    EXPECT_EQ(mount->options, "rw,cpu");
  }
}

TEST(ProcLines, ATruncatedLineIsRefused) {
  for (const char* line : {"", " ", "7f00-7f01", "7f00-7f01 r-xp", "7f00 r-xp 0 fe:01 1 /a", "7f00-7f01 r-xp 0 fe:01",
                           "7f00-7f01 r-xp 0 fe 1 /a", "x-y r-xp 0 fe:01 1 /a"}) {
    EXPECT_FALSE(maps_line(line)) << line;
  }
  for (const char* line : {"", "31 24 0:27 / / rw", "31 24 0:27 / / rw -", "31 24 27 / / rw - ext4 a rw",
                           "a 24 0:27 / / rw - ext4 a rw"}) {
    EXPECT_FALSE(mount_line(line)) << line;
  }
}

TEST(ProcLines, FieldsOfStatBeginBehindANameWithBlanksAndParentheses) {
  const auto words = stat_words("4711 (a) b (c)) S 1 4711 0\n");
  EXPECT_EQ(words, (std::vector<std::string_view>{"S", "1", "4711", "0"}));
  for (const char* none : {"", "4711", "4711 (a", "4711 (a)"}) EXPECT_TRUE(stat_words(none).empty()) << none;
}

TEST(ProcLines, ALineOfStatusIsFoundByItsWholeName) {
  constexpr const char* kStatus =
      "Name:\tUid: 7\nNStgid:\t400\t1\nTgid:\t400\nNSpid:\t400\t7\t1\nGroups:\t \nUid:\t0\t1";
  EXPECT_EQ(status_words(kStatus, "NSpid:"), (std::vector<std::string_view>{"400", "7", "1"}));
  EXPECT_EQ(status_words(kStatus, "Tgid:"), (std::vector<std::string_view>{"400"}));
  EXPECT_EQ(status_words(kStatus, "Uid:"), (std::vector<std::string_view>{"0", "1"}));
  EXPECT_TRUE(status_words(kStatus, "Groups:").empty());
  EXPECT_TRUE(status_words(kStatus, "Seccomp:").empty());
  EXPECT_TRUE(status_words("", "Uid:").empty());
}

}  // namespace
}  // namespace mlrun::util
