// SPDX-License-Identifier: Apache-2.0
// mlrun-supervisor CONTROL LOCK COMMAND...: makes one run of a sweep (runner/sweep/supervise). Inherits descriptors of these
// numbers: a socket to the sweep, and the lock of its folder, which it only holds. Called by mlrun-sweep, not by users.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>

#include "runner/sweep/supervise/supervisor.h"

int main(int argc, char** argv) {
  const auto descriptor = [&](int word) {
    return argc > 3 ? static_cast<int>(std::strtol(argv[word], nullptr, 10)) : -1;
  };
  const int control = descriptor(1), lock = descriptor(2);
  if (control < 3 || ::fcntl(control, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(lock, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("mlrun-supervisor is called by mlrun-sweep\n", stderr);
    return 125;
  }
  mlrun::sweep::Supervisor supervisor(control);
  const mlrun::Status done = supervisor.run(argv + 3);
  if (done) return 0;
  std::fprintf(stderr, "mlrun: %s\n", done.error().text.c_str());
  return 125;
}
