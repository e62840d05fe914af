// SPDX-License-Identifier: Apache-2.0
// names_files FOLDER: calls on paths of both generations, absolute, relative to the working directory and to a
// descriptor.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int __xstat(int, const char *, struct stat *), __xstat64(int, const char *, struct stat64 *);
int __lxstat(int, const char *, struct stat *), __fxstat(int, int, struct stat *),
    __fxstat64(int, int, struct stat64 *);
int __lxstat64(int, const char *, struct stat64 *), __fxstatat(int, int, const char *, struct stat *, int);
int __fxstatat64(int, int, const char *, struct stat64 *, int);

int main(int count, char **arguments) {
  struct stat s;
  struct stat64 s64;
  struct statx sx;
  int top = count == 2 ? open(arguments[1], O_DIRECTORY | O_CLOEXEC) : -1;
  if (chdir(arguments[1])) return 2;
  char missing[4096];  // absolute, and of the same file system: between two, rename does not look whether it exists
  snprintf(missing, sizeof missing, "%s/none", arguments[1]);
  mkdir("d", 0751), mkdirat(top, "d/e", 0700), close(creat("f", 0640)), close(creat64("d/g", 0600));
  stat("f", &s), stat64("f", &s64), __xstat(1, "f", &s), __xstat64(1, "f", &s64);
  lstat("f", &s), lstat64("f", &s64), __lxstat(1, "f", &s), __lxstat64(1, "f", &s64);
  fstat(top, &s), fstat64(top, &s64), __fxstat(1, top, &s), __fxstat64(1, top, &s64);
  fstatat(top, "f", &s, AT_SYMLINK_NOFOLLOW), fstatat64(top, "f", &s64, 0), fstatat(top, "", &s, AT_EMPTY_PATH);
  __fxstatat(1, top, "f", &s, 0), __fxstatat64(1, top, "f", &s64, 0);
  statx(top, "f", AT_STATX_DONT_SYNC, STATX_SIZE, &sx), statx(AT_FDCWD, "none", 0, STATX_ALL, &sx);
  rename("f", "d/h"), renameat(top, "d/h", AT_FDCWD, "i"), renameat2(AT_FDCWD, missing, top, "j", RENAME_NOREPLACE);
  if (chdir("d")) return 3;
  stat("g", &s), unlink("g"), unlinkat(top, "d/e", AT_REMOVEDIR), fchdir(top), unlink("i"), rmdir("d"), rmdir("d");
  return 0;
}
