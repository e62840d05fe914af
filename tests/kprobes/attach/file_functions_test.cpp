// SPDX-License-Identifier: Apache-2.0
// Tests which file systems' functions are probed, depending on the mounts.
#include "kprobes/attach/file_functions.h"

#include <stdlib.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::probes {
namespace {

constexpr const char* kMounts =
    "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "23 22 0:21 / /proc rw shared:2 - proc proc rw\n"
    "24 22 0:22 / /dev/shm rw - tmpfs tmpfs rw\n"
    "25 22 0:40 / /home rw - cifs //server/share rw\n"
    "26 22 0:41 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw\n"
    "27 22 7:0 / /image ro - erofs /dev/loop0 ro\n"
    "28 22 0:42 / /pool rw - zfs pool rw\n"
    "29 22 0:43 / /mnt/sshfs rw - fuse.sshfs host: rw\n"
    "30 22 0:44 / /over rw - overlay overlay rw\n"
    "damaged\n";

TEST(ServedTypes, AreThoseOfADeviceOrAServer) {
  EXPECT_EQ(served_types_in(kMounts), (FileSystemTypes{"cifs", "erofs", "ext4", "fuse", "lustre", "zfs"}));
  EXPECT_TRUE(served_types_in("").empty());
}

TEST(ServedTypes, WithoutAnAttachedFunctionOfTheirOwnAreNotSeen) {
  const auto all = [](std::string_view) { return true; };
  EXPECT_TRUE(has_function_of("ext4", all));
  EXPECT_TRUE(has_function_of("vfat", all)) << "by the page cache's";
  for (const char* type : {"cifs", "lustre", "zfs", "erofs"}) EXPECT_FALSE(has_function_of(type, all)) << type;
  EXPECT_TRUE(has_function_of("ext4", [](std::string_view name) { return name == "ext4_file_write_iter"; }));
  EXPECT_FALSE(has_function_of("ext4", [](std::string_view name) { return name == "xfs_file_read_iter"; }));
}

TEST(FileFunctions, TheGenericReadIsProbedOnlyForFileSystemsThatUseIt) {
  const auto is_probed = [](const FileSystemTypes& mounted) {
    const auto functions = file_functions(mounted);
    return std::any_of(functions.begin(), functions.end(),
                       [](const FileFunction& function) { return function.name == "generic_file_read_iter"; });
  };
  EXPECT_FALSE(is_probed({"ext4", "xfs", "btrfs", "overlay", "tmpfs", "hugetlbfs"}));
  for (const char* type : {"vfat", "squashfs", "9p"}) EXPECT_TRUE(is_probed({"ext4", type})) << type;
}

// Functions of an operation: either without the fallbacks or the fallbacks alone.
std::vector<std::string_view> names_of(uint32_t op, bool fallbacks) {
  std::vector<std::string_view> names;
  for (const FileFunction& function : file_functions({})) {
    if (function.op == op && function.is_fallback == fallbacks) names.push_back(function.name);
  }
  return names;
}

TEST(FileFunctions, OpeningHasAFallbackAndATestCanLeaveOutTheOthers) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(names_of(MLRUN_FILE_OPEN, false), (Names{"do_filp_open", "do_file_open"}));
  EXPECT_EQ(names_of(MLRUN_FILE_OPEN, true), (Names{"security_file_open"}));
  for (uint32_t op = 0; op < MLRUN_FILE_PURPOSES; op++) {
    const size_t wanted = op == MLRUN_FILE_OPEN ? 1 : 0;
    EXPECT_EQ(names_of(op, true).size(), wanted) << op;
  }
  ::setenv(kWithoutFunctionsVariable, "do_filp_open,do_rmdir", 1);
  const Names opening = names_of(MLRUN_FILE_OPEN, false), removing = names_of(MLRUN_FILE_RMDIR, false);
  ::unsetenv(kWithoutFunctionsVariable);
  EXPECT_EQ(opening, (Names{"do_file_open"}));
  EXPECT_EQ(removing, (Names{"filename_rmdir"}));
}

}  // namespace
}  // namespace mlrun::probes
