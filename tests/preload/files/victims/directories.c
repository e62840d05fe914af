// SPDX-License-Identifier: Apache-2.0
// directories FOLDER: reads it to the end by readdir, twice around with rewinddir by readdir64, and once by scandir.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static DIR *volatile none;

int main(int count, char **arguments) {
  int first = 0, second = 0;
  if (count != 2) return 2;
  DIR *directory = opendir(arguments[1]);
  errno = 42;
  while (readdir(directory)) first++;
  if (errno != 42 || closedir(directory)) return 3;
  directory = fdopendir(open(arguments[1], O_DIRECTORY));
  for (int i = 0; i < 10; i++) readdir64(directory);
  rewinddir(directory);
  while (readdir64(directory)) second++;
  closedir(directory);
  printf("%d\n", first);
  return first != second || opendir("/nowhere/at/all") || closedir(none) != -1;
}
