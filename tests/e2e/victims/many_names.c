// SPDX-License-Identifier: Apache-2.0
// many_names FOLDER NAMES OPENED: access to NAMES names that are not there; then OPENED files made in FOLDER, one byte read
// of each, and removed.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 4) return 2;
  char path[4096], byte = 0;
  for (long i = 0; i < atol(arguments[2]); i++) {
    snprintf(path, sizeof path, "%s/absent/%ld", arguments[1], i);
    access(path, F_OK);
  }
  for (long i = 0; i < atol(arguments[3]); i++) {
    snprintf(path, sizeof path, "%s/%ld", arguments[1], i);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    write(fd, "x", 1);
    pread(fd, &byte, 1, 0);
    close(fd);
    unlink(path);
  }
  return byte == 'x' ? 0 : 3;
}
