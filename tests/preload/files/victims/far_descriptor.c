// SPDX-License-Identifier: Apache-2.0
// far_descriptor: reads a copy of descriptor 3 that has a very high number, and closes it; and a number that is none.
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
  char byte;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) || dup2(3, 400000) < 0) return 77;
  return read(400000, &byte, 1) != 1 || close(400000) || !close(400001);
}
