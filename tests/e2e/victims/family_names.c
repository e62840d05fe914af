// SPDX-License-Identifier: Apache-2.0
// family_names FOLDER: calls on names, attributes and folders beyond those of hooks_names, once each.
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#include "family.h"

static void attributes(int top, int fd) {
  struct statfs system;
  struct statvfs portable;
  struct timespec both[2] = {{1, 0}, {2, 0}};
  struct timeval pair[2] = {{1, 0}, {2, 0}};
  struct utimbuf times = {1, 2};
  char text[256];
  chmod("one", 0640), fchmod(fd, 0600), fchmodat(top, "one", 0644, 0);
  chown("one", getuid(), getgid()), lchown("soft", -1, -1), fchown(fd, -1, -1), fchownat(top, "one", -1, -1, 0);
  utime("one", &times), utimes("one", pair), lutimes("soft", pair), futimes(fd, pair), futimesat(top, "one", pair);
  utimensat(top, "one", both, 0), futimens(fd, both);
  statfs(".", &system), fstatfs(fd, &system), statvfs(".", &portable), fstatvfs(fd, &portable);
  setxattr("one", "user.a", "12", 2, 0), lsetxattr("one", "user.b", "1", 1, 0), fsetxattr(fd, "user.c", "123", 3, 0);
  getxattr("one", "user.a", text, 9), lgetxattr("one", "user.none", text, 9), fgetxattr(fd, "user.c", text, 9);
  listxattr("one", text, 99), llistxattr("one", text, 99), flistxattr(fd, text, 99);
  removexattr("one", "user.a"), lremovexattr("one", "user.b"), fremovexattr(fd, "user.c");
}

int main(int count, char **arguments) {
  char text[4096], folder[] = "made_XXXXXX";
  if (count != 2 || chdir(arguments[1])) return 2;
  int top = open(".", O_DIRECTORY), fd = open("one", O_CREAT | O_RDWR, 0644);
  begin_calls();
  access("one", R_OK), faccessat(top, "one", W_OK, 0), euidaccess("none", R_OK);
  link("one", "two"), linkat(top, "one", top, "three", 0), link("none", "four");
  symlink("one", "soft"), symlinkat("one", top, "softer");
  readlink("soft", text, sizeof text), readlinkat(top, "softer", text, sizeof text), readlink("one", text, 9);
  attributes(top, fd);
  mknod("fifo", S_IFIFO | 0600, 0), mknodat(top, "fifo", S_IFIFO | 0600, 0), mkfifo("pipe", 0600);
  mkfifoat(top, "piper", 0600), mkdtemp(folder);
  getdents64(top, text, sizeof text);
  truncate("one", 100), truncate("none", 100);
  remove("pipe"), remove(folder), remove("none");
  end_calls();
  return 0;
}
