// SPDX-License-Identifier: Apache-2.0
// renamed_folders FOLDER: opens files by paths whose folders are renamed meanwhile, by this process and by a child, and prints what the
// kernel calls each of them. A byte is written to every file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void put(int folder, const char *path) {
  int fd = openat(folder, path, O_CREAT | O_RDWR, 0644);
  char link[64], text[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t bytes = readlink(link, text, sizeof text - 1);
  text[bytes > 0 ? bytes : 0] = 0;
  if (fd < 0 || write(fd, "x", 1) != 1) exit(1);
  close(fd);
  printf("%s\n", text);
}

static void rename_in_child(const char *from, const char *to) {
  pid_t child = fork();
  if (child == 0) _exit(rename(from, to) != 0);
  int status = 1;
  waitpid(child, &status, 0);
  if (status) exit(1);
}

int main(int count, char **arguments) {
  if (count < 2 || chdir(arguments[1])) return 1;
  mkdir("a", 0755), mkdir("a/b", 0755), mkdir("a/b/c", 0755);
  chdir("a/b/c"), put(AT_FDCWD, "1");
  rename("../c", "../d"), put(AT_FDCWD, "2");
  chdir(".."), put(AT_FDCWD, "d/3");
  int folder = open("d", O_RDONLY | O_DIRECTORY), copy = dup(folder);
  put(folder, "4");
  rename("d", "e"), put(folder, "5"), put(copy, "6"), put(AT_FDCWD, "7");
  chdir("../..");
  rename("a", "A"), put(folder, "8"), put(AT_FDCWD, "9");
  fchdir(folder), put(AT_FDCWD, "10");
  rename_in_child("../../../A", "../../../AA"), put(AT_FDCWD, "11"), put(copy, "12");
  FILE *stream = fopen("13", "w");
  fputs("x", stream), fclose(stream);
  chdir("../../..");
  mkdir("real", 0755), mkdir("real/deep", 0755), mkdir("x", 0755);
  symlink("../real/deep", "x/link"), put(AT_FDCWD, "x/link/../14"), put(AT_FDCWD, "x/../15"),
      put(AT_FDCWD, "./x/link/./../../16");
  return 0;
}
