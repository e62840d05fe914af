// SPDX-License-Identifier: Apache-2.0
// opens FOLDER: every symbol that opens by a path, and opens that fail; prints device and inode of what it made.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int __open_2(const char *, int), __open64_2(const char *, int), __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int), __open(const char *, int, ...), __open64(const char *, int, ...),
    __close(int);

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  int top = open(".", O_DIRECTORY | O_RDONLY), made = open("made", O_RDWR | O_CREAT | O_EXCL, 0604);
  struct stat status;
  fstat(made, &status);
  dprintf(1, "%lu %lu\n", status.st_dev, status.st_ino);
  close(open64("made", O_RDONLY)), close(__open("made", O_WRONLY)), close(__open64("made", O_APPEND | O_WRONLY));
  close(__open_2("made", O_RDONLY)), close(__open64_2("made", O_RDONLY));
  close(openat(top, "made", O_RDONLY)), close(openat64(AT_FDCWD, "made", O_RDONLY));
  close(__openat_2(top, "made", O_RDONLY)), __close(__openat64_2(AT_FDCWD, "made", O_RDONLY));
  close(open("unnamed/..", O_RDONLY)), open("none", O_RDONLY), open("made", O_RDONLY | O_DIRECTORY),
      openat(99, "made", 0);
  close(open(".", O_TMPFILE | O_RDWR, 0600));
  return close(made) || close(top);
}
