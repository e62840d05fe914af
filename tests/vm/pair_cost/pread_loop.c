// SPDX-License-Identifier: Apache-2.0
// Reads the same cached 4 KiB of a file in a loop, and prints the CPU time of one call in ns, for each of some batches.
// Usage: pread_loop FILE BATCHES CALLS
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  static char page[4096];
  const int file = argc == 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) {
    fprintf(stderr, "usage: pread_loop FILE BATCHES CALLS; the file must exist\n");
    return 2;
  }
  const long batches = atol(argv[2]), calls = atol(argv[3]);
  for (long batch = -1; batch < batches; batch++) {  // the first one warms up
    const double begin_ns = now_ns();
    for (long call = 0; call < calls; call++) {
      if (pread(file, page, sizeof page, 0) != (ssize_t)sizeof page) return 1;
    }
    if (batch >= 0) printf("%.1f\n", (now_ns() - begin_ns) / (double)calls);
  }
  return 0;
}
