// SPDX-License-Identifier: Apache-2.0
// Tests that new mounts are detected, in the test's own mount namespace.
#include "kprobes/attach/mount_watch.h"

#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runner/util/clock.h"

namespace mlrun::probes {
namespace {

constexpr uint64_t kWhenever = UINT64_MAX;

bool has_event(const MountWatch& mounts, uint64_t now_ns = kWhenever) {
  std::vector<pollfd> watched;
  mounts.add_to(watched, now_ns);
  return ::poll(watched.data(), watched.size(), 0) > 0;
}

// In a child: a namespace cannot be left again.
int watch_own_mounts(const char* folder) {
  if (::unshare(CLONE_NEWNS) != 0) return errno == EPERM ? 77 : 1;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
  MountWatch mounts;
  if (has_event(mounts)) return 3;
  if (mounts.types().contains("ramfs")) return 4;
  if (::mount("none", folder, "ramfs", 0, nullptr) != 0) return errno == EPERM ? 77 : 5;
  if (!has_event(mounts) || has_event(mounts)) return 6;
  if (!mounts.types().contains("ramfs")) return 7;
  if (::umount(folder) != 0 || !has_event(mounts)) return 8;
  return mounts.types().contains("ramfs") ? 9 : 0;
}

TEST(MountWatch, ALaterMountIsReportedOnce) {
  const std::string folder = testing::TempDir();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(watch_own_mounts(folder.c_str()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no mount namespace of its own: it takes root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// It stays that of the namespace when the process has gone.
TEST(MountWatch, AnotherProcessHasMountsOfItsOwn) {
  int ready[2], go[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(go), 0);
  const std::string folder = testing::TempDir();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char did = 0;
    if (::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) did = 1;
    (void)!::write(ready[1], &did, 1);
    (void)!::read(go[0], &did, 1);
    if (::mount("none", folder.c_str(), "ramfs", 0, nullptr) != 0) did = 0;
    (void)!::write(ready[1], &did, 1);
    (void)!::read(go[0], &did, 1);
    ::_exit(0);
  }
  char did = 0;
  ASSERT_EQ(::read(ready[0], &did, 1), 1);
  const bool has_own = did == 1;
  MountWatch mounts;
  mounts.add(static_cast<uint32_t>(child));
  mounts.add(static_cast<uint32_t>(child));
  std::vector<pollfd> watched;
  mounts.add_to(watched, kWhenever);
  ASSERT_EQ(::write(go[1], "", 1), 1);
  ASSERT_EQ(::read(ready[0], &did, 1), 1);
  const bool is_mounted = has_own && has_event(mounts) && mounts.types().contains("ramfs");
  ASSERT_EQ(::write(go[1], "", 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
  if (!has_own) GTEST_SKIP() << "no mount namespace of its own: it takes root";
  EXPECT_EQ(watched.size(), 2u) << "each namespace once";
  EXPECT_TRUE(is_mounted);
}

// With something mounted after each reading, it says once that something was.
int watch_a_storm(const char* folder) {
  if (::unshare(CLONE_NEWNS) != 0) return errno == EPERM ? 77 : 1;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
  MountWatch mounts;
  if (has_event(mounts)) return 3;
  const uint64_t before_ns = util::monotonic_ns();
  if (mounts.types().contains("ramfs")) return 4;
  const uint64_t after_ns = util::monotonic_ns();
  if (::mount("none", folder, "ramfs", 0, nullptr) != 0) return errno == EPERM ? 77 : 5;
  if (has_event(mounts, before_ns)) return 6;
  if (!has_event(mounts, after_ns + 9 * (after_ns - before_ns))) return 7;
  return mounts.types().contains("ramfs") ? 0 : 8;
}

TEST(MountWatch, ReadingMountsTakesATenthOfTheTimeAndMissesNothing) {
  const std::string folder = testing::TempDir();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(watch_a_storm(folder.c_str()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no mount namespace of its own: it takes root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(MountWatch, TypesAreReadFromMountinfo) {
  constexpr std::string_view kMounts =
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n"
      "37 35 0:40 / /a\\040b rw - fuse.sshfs - rw\nbroken line\n";
  EXPECT_EQ(types_in(kMounts), (FileSystemTypes{"ext3", "fuse"}));
}

}  // namespace
}  // namespace mlrun::probes
