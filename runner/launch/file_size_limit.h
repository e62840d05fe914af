// SPDX-License-Identifier: Apache-2.0
// `ulimit -f` is meant for the command. The arena and the spool are ours, so our own limit is raised as far as it goes
// and SIGXFSZ is ignored; the command gets back what it would have had.
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace mlrun::launch {

class FileSizeLimit {
 public:
  FileSizeLimit() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct sigaction ignore = ignoring();
    ::sigaction(SIGXFSZ, &ignore, &action_before_);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY}, most{before_.rlim_max, before_.rlim_max};
    const bool privileged = ::setrlimit(RLIMIT_FSIZE, &none) == 0;
    if (!privileged) ::setrlimit(RLIMIT_FSIZE, &most);
  }
  // In the child, before exec; or in this process, before it becomes the command.
  void restore() const {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::sigaction(SIGXFSZ, &action_before_, nullptr);
  }

 private:
  static struct sigaction ignoring() {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    return action;
  }

  rlimit before_{};
  struct sigaction action_before_ {};
};

}  // namespace mlrun::launch
