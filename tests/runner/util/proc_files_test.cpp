// SPDX-License-Identifier: Apache-2.0
#include "runner/util/proc_files.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mlrun::util {
namespace {

TEST(ProcFiles, ExecutableMappingsWithOddNamesAreListed) {
  const auto modules = parse_modules(
      "55d000000000-55d000001000 r--p 00000000 fe:00 12 /usr/bin/a\n"
      "55d000001000-55d000005000 r-xp 00001000 fe:00 12 /usr/bin/a\n"
      "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00002000 fe:00 13                         /tmp/b c.so (deleted)\n"
      "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]\n"
      "garbage\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], (Module{0x55d000001000, 0x55d000005000, 0x1000, "/usr/bin/a"}));
  EXPECT_EQ(modules[1].path, "/tmp/b c.so (deleted)");
}

TEST(ProcFiles, RingsThatAreSharedWithTheKernelAreAmongTheMappings) {
  const auto modules = parse_modules(
      "7f0000000000-7f0000001000 rw-s 00000000 00:0d 1041                       anon_inode:[io_uring]\n"
      "7f0000002000-7f0000003000 rw-s 00000000 00:0d 1042                       anon_inode:[eventfd]\n"
      "7f0000004000-7f0000005000 rw-s 00000000 00:11 2083                       /[aio] (deleted)\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], (Module{0x7f0000000000, 0x7f0000001000, 0, "anon_inode:[io_uring]"}));
  EXPECT_EQ(modules[1].path, "/[aio] (deleted)");
}

TEST(ProcFiles, TheOwnProcessIsListed) {
  const auto stat = read_proc_stat(static_cast<uint32_t>(::getpid()));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->ppid, static_cast<uint32_t>(::getppid()));
  EXPECT_GT(stat->start_ticks, 0u);
  EXPECT_FALSE(read_proc_stat(0));
  EXPECT_NE(pid_namespace_of(0), 0u);
}

TEST(ProcFiles, AFolderThatCannotBeOpenedDiffersFromOneWithoutNumbers) {
  const auto self = static_cast<uint32_t>(::getpid());
  int error = 0;
  const auto tids = numbers_in("/proc/self/task", &error);
  ASSERT_FALSE(tids.empty());
  EXPECT_EQ(tids.front(), self) << "neither . nor .. is a number";
  EXPECT_TRUE(numbers_in("/proc/self/ns", &error).empty());
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(numbers_in("/proc/0", &error).empty());
  EXPECT_EQ(error, ENOENT);
}

// In /proc/PID/status a long Groups: line precedes NSpid: and Seccomp:.
TEST(ProcFiles, AProcessOfManyGroupsHasItsInnermostPid) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<gid_t> groups(2000);
    std::iota(groups.begin(), groups.end(), gid_t{1'000'000'000});
    if (::setgroups(groups.size(), groups.data()) != 0) ::_exit(77);
    ::_exit(innermost_pid_of(static_cast<uint32_t>(::getpid())) == static_cast<uint32_t>(::getpid()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root may be in any groups";
  EXPECT_EQ(status, 0);
}

// In the middle of an exec a process has no environment.
TEST(ProcFiles, AnEnvironmentIsInUseAllTheTime) {
  const std::string variable = "MLRUN_IN_USE=" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr const char* kAgain = "exec /bin/sh -c \"$0\" \"$0\"";
    ::putenv(const_cast<char*>(variable.c_str()));
    ::execl("/bin/sh", "sh", "-c", kAgain, kAgain, nullptr);
    ::_exit(127);
  }
  while (!environment_in_use(variable)) ::usleep(1000);
  for (int i = 0; i < 300; i++) EXPECT_TRUE(environment_in_use(variable)) << i;
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (environment_in_use(variable)) ::usleep(1000);  // some other process may be executed
}

}  // namespace
}  // namespace mlrun::util
