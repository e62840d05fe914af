// SPDX-License-Identifier: Apache-2.0
// path_rules FOLDER: calls on FOLDER/keep and FOLDER/drop in every way that a file can be named: by relative paths, by
// folders' descriptors, copies, streams, after fork and after exec.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kKept = 30, kDropped = 31 };  // descriptors that are handed on

static char bytes[4096];

static void read_times(int fd, int times, size_t size) {
  for (int i = 0; i < times; i++) read(fd, bytes, size);
}

static void through_folders(void) {
  struct stat status;
  int folder = open("drop", O_RDONLY | O_DIRECTORY);
  int inside = openat(folder, "c.dat", O_RDONLY);
  read_times(inside, 1, 3);
  int outside = openat(folder, "../keep/sub/b.dat", O_RDONLY);
  read_times(outside, 2, 4);
  fstatat(folder, "c.dat", &status, 0);
  fstatat(folder, "../keep/a.dat", &status, 0);
  close(outside);
  close(inside);
  DIR *stream = opendir("drop");
  while (readdir(stream)) continue;
  closedir(stream);
  close(folder);
}

static void by_names(void) {
  struct stat status;
  stat("keep/../drop/c.dat", &status);
  stat("keep/a.dat", &status);
  stat("nowhere/a.dat", &status);
  lstat("drop/nothing", &status);
  rename("drop/c.dat", "keep/c.dat");
  rename("keep/c.dat", "drop/c.dat");
  rename("drop/c.dat", "drop/d.dat");
  rename("drop/d.dat", "drop/c.dat");
  chdir("drop");
  access("c.dat", R_OK);
  stat("c.dat", &status);
  chdir("..");
}

static void through_streams(void) {
  for (int i = 0; i < 2; i++) {
    FILE *stream = fopen(i ? "drop/c.dat" : "keep/a.dat", "r+");
    fgets(bytes, 20, stream);
    fseek(stream, 0, SEEK_END);
    fputs("more", stream);
    fclose(stream);
  }
}

static int handed_on(void) {
  read_times(kKept, 3, 2);
  read_times(kDropped, 2, 2);
  close(kKept);
  close(kDropped);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  if (!strcmp(arguments[1], "handed on")) return handed_on();
  chdir(arguments[1]);
  int kept = open("keep/a.dat", O_RDONLY), dropped = open("drop/c.dat", O_RDWR);
  read_times(kept, 3, 10);
  read_times(dropped, 4, 7);
  for (int i = 0; i < 2; i++) write(dropped, "12345", 5);
  read_times(dup(dropped), 1, 1);
  through_folders();
  by_names();
  through_streams();
  dup2(kept, kKept);
  dup2(dropped, kDropped);
  lseek(kDropped, 0, SEEK_SET);
  int ends[2];
  pipe(ends);
  write(ends[1], "pipe", 4);
  read(ends[0], bytes, 4);
  pid_t child = fork();
  if (!child) {
    read_times(kept, 1, 5);
    read_times(dropped, 1, 6);
    execl("/proc/self/exe", "path_rules", "handed on", (char *)NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
