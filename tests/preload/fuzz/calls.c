// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/fuzz/calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/preload/fuzz/memory.h"

#define POINTER(pointer) ((pointer) != NULL)

enum { SAME, VARIES };

#define CALL(name, leaves, ...) \
  static long make_##name(struct dice *d) { return (long)(__VA_ARGS__); }
#include "tests/preload/fuzz/calls.def"

const struct fuzzed_call fuzzed_calls[] = {
#define CALL(name, leaves, ...) {#name, make_##name, (leaves) == VARIES},
#include "tests/preload/fuzz/calls.def"
};
const int fuzzed_call_count = sizeof fuzzed_calls / sizeof fuzzed_calls[0];

// Nothing but the kernel reads here: a load of the program's own would die.
long call_on_memory_that_goes(struct dice *d) {
  char *at = memory_good() + below(d, 8);
  struct stat status;
  switch (below(d, 9)) {
    case 0: return stat(at, &status);
    case 1: return access(at, R_OK);
    case 2: return open(at, O_RDONLY);
    case 3: return rename(at, at);
    case 4: return unlink(at);
    case 5: return readv(0, (struct iovec *)(void *)at, 3);
    case 6: return sendmsg(3, (struct msghdr *)(void *)at, MSG_DONTWAIT | MSG_NOSIGNAL);
    case 7: return readlink(at, at, 10);
    default: return sendfile(0, 3, (off_t *)(void *)at, 1);
  }
}
