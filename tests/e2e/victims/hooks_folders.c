// SPDX-License-Identifier: Apache-2.0
// hooks_folders FOLDER: reads a folder by opendir and by fdopendir to its end, as many times as it takes.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  int entries = 0;
  DIR *folder = opendir(arguments[1]);
  while (readdir(folder)) entries++;
  closedir(folder);
  folder = fdopendir(open(arguments[1], O_RDONLY | O_DIRECTORY));
  while (readdir(folder)) entries++;
  closedir(folder);
  opendir("/nowhere/at/all");
  return printf("%d\n", entries) < 0;
}
