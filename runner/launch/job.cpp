// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/job.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "runner/util/proc_files.h"

namespace mlrun::launch {

namespace {

// False if /proc does not say.
bool is_alone_in(pid_t group, pid_t witness) {
  bool seen = false;
  for (const uint32_t number : util::numbers_in("/proc")) {
    const auto pid = static_cast<pid_t>(number);
    if (pid == ::getpid()) seen = true;
    if (pid != ::getpid() && pid != witness && ::getpgid(pid) == group) return false;
  }
  return seen;
}

}  // namespace

Job::Job(pid_t witness) : group_(::getpgrp()) {
  if (!leads() || !is_alone_in(group_, witness)) return;
  terminal_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  own_group_ = terminal_.valid() || errno == ENXIO || errno == ENOENT;
  own_session_ = own_group_ && !terminal_.valid() && ::getsid(0) == ::getpid();
}

void Job::enter_in_child() const {
  if (own_session_) {
    ::setsid();
  } else if (own_group_) {
    ::setpgid(0, 0);
  }
}

void Job::started(pid_t command) {
  command_ = command;
  if (own_group_ && !own_session_) ::setpgid(command, command);
  hand_over_terminal();
}

bool Job::hand_over_terminal() {
  if (!waits_for_terminal() || !own_group_ || ::tcgetpgrp(terminal_.get()) != group_) return false;
  handed_over_ = ::tcsetpgrp(terminal_.get(), command_) == 0;
  return handed_over_;
}

void Job::take_terminal() {
  if (!handed_over_) return;
  handed_over_ = false;
  if (::tcgetpgrp(terminal_.get()) == command_) ::tcsetpgrp(terminal_.get(), group_);
}

void Job::note_terminal() {
  if (!handed_over_) return;
  const pid_t group = ::tcgetpgrp(terminal_.get());
  if (group == group_ || group == ::getpgid(::getppid())) handed_over_ = false;
}

void Job::command_ended() {
  if (handed_over_ && ::getsid(0) == ::getpid() && ::tcgetpgrp(terminal_.get()) == command_) {
    ::kill(-command_, SIGHUP);
    ::kill(-command_, SIGCONT);
  }
  take_terminal();
  command_ = 0;
}

}  // namespace mlrun::launch
