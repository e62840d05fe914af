// SPDX-License-Identifier: Apache-2.0
#include "runner/util/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace mlrun::util {

void hold_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    // open takes the lowest free number, and those below fd are taken.
    const int access = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", access | O_CLOEXEC);
  }
}

}  // namespace mlrun::util
