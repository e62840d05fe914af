// SPDX-License-Identifier: Apache-2.0
// Whose memory a mapping is, by lines as the kernel writes them.
#include "runner/placement/process_memory.h"

#include <gtest/gtest.h>

#include "runner/model/run.h"

namespace mlrun::placement {
namespace {

Mapping mapping_of(const std::string& rights, const std::string& inode_and_path) {
  const auto all = read_mappings("7f0000000000-7f0000200000 " + rights + " 00000000 00:01 " + inode_and_path + "\n",
                                 "/home/user/trace/arena.bin");
  return all.size() == 1 ? all.front() : Mapping();
}

TEST(ProcessMemory, ExplicitHugePagesAreMemoryOfTheProcess) {
  const Mapping huge = mapping_of("rw-p", "61449     /anon_hugepage (deleted)");
  EXPECT_TRUE(huge.is_own_memory && huge.is_accessible);
  EXPECT_EQ(huge.file, "");
  EXPECT_EQ(huge.span, (Span{0x7f0000000000, 0x7f0000200000}));
  EXPECT_EQ(mapping_of("rw-s", "61449     /anon_hugepage (deleted)").file, model::Placement::kSharedMemory);
  EXPECT_EQ(mapping_of("rw-s", "7     /dev/hugepages/pool").file, "/dev/hugepages/pool");
  EXPECT_EQ(read_resident_bytes("9000 100 50 1 0 80 0", "VmRSS:\t 400 kB\nHugetlbPages:\t    4096 kB\n"),
            (100u << 12) + (4096u << 10));
  EXPECT_EQ(read_resident_bytes("9000 100 50 1 0 80 0", ""), 100u << 12);
}

TEST(ProcessMemory, TheBufferOfMlrunIsNotCountedAsMemoryOfTheProgram) {
  for (const char* const path : {"9 /dev/shm/mlrun-123-0123456789ab", "9 /home/user/trace/arena.bin"}) {
    const Mapping buffer = mapping_of("rw-s", path);
    EXPECT_FALSE(buffer.is_own_memory) << path;
    EXPECT_EQ(buffer.file, "") << path;
  }
  EXPECT_EQ(mapping_of("rw-s", "9 /home/user/arena.bin").file, "/home/user/arena.bin");
  EXPECT_EQ(mapping_of("rw-s", "9 /dev/shm/mlrun-batch").file, model::Placement::kSharedMemory);
}

TEST(ProcessMemory, SharedMemoryIsOneFile) {
  for (const char* const path :
       {"9 /dev/shm/torch_1_2", "9 /memfd:x (deleted)", "9 /SYSV00000000 (deleted)", "9 /dev/zero (deleted)"})
    EXPECT_EQ(mapping_of("rw-s", path).file, model::Placement::kSharedMemory) << path;
  EXPECT_EQ(mapping_of("r-xp", "9 /usr/lib/libc.so.6").file, "/usr/lib/libc.so.6");
  EXPECT_TRUE(mapping_of("rw-p", "9 /dev/zero").is_own_memory);
  EXPECT_TRUE(mapping_of("rw-p", "0 [heap]").is_own_memory);
  EXPECT_TRUE(mapping_of("r-xp", "0 [vdso]").is_vdso);
  EXPECT_FALSE(mapping_of("r--p", "0 [vvar]").is_own_memory);
  EXPECT_FALSE(mapping_of("rw-p", "9 /usr/lib/libc.so.6").is_own_memory);
}

TEST(ProcessMemory, InaccessibleMappingsOnlyReserveAddresses) {
  EXPECT_FALSE(mapping_of("---p", "0 ").is_accessible);
  EXPECT_TRUE(mapping_of("---p", "0 ").is_own_memory);
  for (const char* const rights : {"r--p", "rw-p", "-w-p", "r-xp", "--xp"})
    EXPECT_TRUE(mapping_of(rights, "0 ").is_accessible) << rights;
}

}  // namespace
}  // namespace mlrun::placement
