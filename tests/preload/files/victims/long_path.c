// SPDX-License-Identifier: Apache-2.0
// long_path: paths of 4095 bytes (the longest there is), 4096 and 9000.
#include <fcntl.h>
#include <string.h>

int main(void) {
  static char path[9001];
  memset(path, '/', 9000);
  for (int slash = 1; slash < 9000; slash += 2) path[slash] = '.';
  open(path, O_RDONLY);
  path[4096] = 0;
  open(path, O_RDONLY);
  path[4095] = 0;
  return open(path, O_RDONLY) < 0;
}
