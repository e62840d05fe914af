// SPDX-License-Identifier: Apache-2.0
// hooks_names FOLDER: every hooked call that works on names, once each; those after chdir with relative paths.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct stat status;
  struct statx wide;
  int top = open(arguments[1], O_DIRECTORY);
  if (count != 2 || chdir(arguments[1])) return 2;
  mkdir("a", 0755);
  mkdirat(top, "a/b", 0700);
  close(creat("a/one", 0600));
  rename("a/one", "a/two");
  renameat(top, "a/two", AT_FDCWD, "a/b/three");
  renameat2(AT_FDCWD, "a/b/three", top, "four", RENAME_NOREPLACE);
  stat("four", &status);
  lstat("a/../four", &status);
  fstatat(top, "four", &status, AT_SYMLINK_NOFOLLOW);
  fstat(top, &status);
  statx(top, "four", AT_STATX_DONT_SYNC, STATX_SIZE, &wide);
  stat("missing", &status);
  int deep = openat(top, "a/b", O_RDONLY | O_DIRECTORY);
  fchdir(deep);
  unlink("../../four");
  unlinkat(top, "a/b", AT_REMOVEDIR);
  fchdir(top);
  return rmdir("a");
}
