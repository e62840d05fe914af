// SPDX-License-Identifier: Apache-2.0
// closefrom N: N preads, closefrom(3), then as many again on a descriptor of the same number, while 20 new files are
// open. Nothing may have been written to those.
#include "victim.h"

int main(int argc, char **argv) {
  int files[20], bad = 0;
  read_often(open_zero(), atol(argv[argc - 1]));
  closefrom(3);
  for (int i = 0; i < 20; i++) files[i] = open("/tmp", O_RDWR | O_TMPFILE, 0600);
  read_often(open_zero(), atol(argv[argc - 1]));
  for (int i = 0; i < 20; i++) bad += lseek(files[i], 0, SEEK_END) != 0;
  _exit(bad);
}
