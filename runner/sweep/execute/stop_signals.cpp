// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace mlrun::sweep {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

sigset_t stop_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&set, number);  // nohup ignores SIGHUP
  }
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

StopSignals::~StopSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> StopSignals::taken() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    if (!taken_) taken_ = static_cast<int>(info.ssi_signo);
  }
  return taken_;
}

bool StopSignals::wait(uint64_t ns) {
  pollfd file{fd_.get(), POLLIN, 0};
  const uint64_t ms = (ns + 999'999) / 1'000'000;
  if (!taken_) ::poll(&file, 1, static_cast<int>(std::min<uint64_t>(ms, std::numeric_limits<int>::max())));
  return taken().has_value();
}

sigset_t mask_of_children() {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (const int number : kSignals) ::sigdelset(&mask, number);
  return mask;
}

}  // namespace mlrun::sweep
