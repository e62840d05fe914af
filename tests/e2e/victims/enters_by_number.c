// SPDX-License-Identifier: Apache-2.0
// enters_by_number FOLDER: opens relative paths after each way to another working directory, or root, by number. FOLDER
// has the folders one and two, each with a file f.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void opens(const char *path) { close(open(path, O_RDONLY)); }

int main(int count, char **arguments) {
  struct stat status;
  if (count != 2 || chdir(arguments[1])) return 2;
  int two = open("two", O_RDONLY | O_DIRECTORY);
  stat("one/f", &status);
  if (syscall(SYS_chdir, "one")) return 3;
  opens("f");
  if (syscall(SYS_fchdir, two)) return 4;
  opens("f");
  if (syscall(SYS_chdir, "missing") == 0) return 5;
  opens("f");
  if (syscall(SYS_chroot, "..") == 0) opens("f");
  return 0;
}
