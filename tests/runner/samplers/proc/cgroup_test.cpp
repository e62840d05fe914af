// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/cgroup.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mlrun::proc {
namespace {

using Folders = std::vector<std::string>;

TEST(Cgroup, OfTheUnifiedHierarchyIsFoundWithThoseAboveIt) {
  const Cgroup found = find_cgroup("0::/user.slice/job\n", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  const Folders wanted = {"/sys/fs/cgroup/user.slice/job", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"};
  EXPECT_EQ(found.unified, wanted);
  EXPECT_EQ(found.cpu, wanted);
  EXPECT_FALSE(found.is_version_1);
}

TEST(Cgroup, OfVersionOneIsTheOneOfProcessors) {
  const Cgroup found = find_cgroup("4:memory:/m\n2:cpu,cpuacct:/a\n0::/\n",
                                   "35 31 0:32 / /c/memory rw - cgroup cgroup rw,memory\n"
                                   "32 31 0:29 / /c/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                                   "41 31 0:38 / /c/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(found.cpu, (Folders{"/c/cpu,cpuacct/a", "/c/cpu,cpuacct"}));
  EXPECT_EQ(found.unified, (Folders{"/c/unified"}));
  EXPECT_TRUE(found.is_version_1);
}

TEST(Cgroup, InAContainerBeginsAtItsMount) {
  const Cgroup found = find_cgroup("2:cpu:/docker/1\n", "32 31 0:29 /docker/1 /c/cpu ro - cgroup cgroup rw,cpu\n");
  EXPECT_EQ(found.cpu, (Folders{"/c/cpu"}));
}

TEST(Cgroup, IsEmptyWhereNoneIsMounted) {
  EXPECT_TRUE(find_cgroup("0::/\n", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n").cpu.empty());
  EXPECT_TRUE(find_cgroup("", "").unified.empty());
}

TEST(CpuLimit, IsTheSmallestOfAll) {
  namespace fs = std::filesystem;
  const fs::path top = fs::path(::testing::TempDir()) / "limits";
  fs::create_directories(top / "job");
  std::ofstream(top / "cpu.max") << "150000 100000\n";
  std::ofstream(top / "job" / "cpu.max") << "max 100000\n";
  const Cgroup cgroup{{(top / "job").string(), top.string()}, {}, false};
  EXPECT_EQ(find_cpu_limit(cgroup).thousandths, 1500);
  EXPECT_EQ(find_cpu_limit(cgroup).folder, top.string());
  std::ofstream(top / "job" / "cpu.max") << "400000 100000\n";
  EXPECT_EQ(find_cpu_limit(cgroup).thousandths, 1500);
  EXPECT_EQ(find_cpu_limit(cgroup).folder, (top / "job").string());
  fs::remove_all(top);
  EXPECT_EQ(find_cpu_limit(cgroup).thousandths, -1);
}

}  // namespace
}  // namespace mlrun::proc
