// SPDX-License-Identifier: Apache-2.0
// Gives the command the process group, session and terminal that it has without mlrun, as far as two processes can
// share them.
//
// A command started by a shell with job control leads its group. If mlrun is that leader and alone in its group, the
// command gets its own group, and the terminal while mlrun's group is in the foreground (its own session if mlrun leads
// one without a terminal). Otherwise it shares mlrun's group with the existing members.
#pragma once

#include <sys/types.h>

#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class Job {
 public:
  // Examines the process group now. `witness`: a member to ignore.
  explicit Job(pid_t witness);
  // The command shares the group.
  Job() : group_(::getpgrp()) {}

  [[nodiscard]] bool own_group() const { return own_group_; }
  [[nodiscard]] bool leads() const { return group_ == ::getpid(); }
  [[nodiscard]] pid_t group() const { return group_; }

  // In the child before exec, and before the parent's started().
  void enter_in_child() const;
  void started(pid_t command);

  // Gives the command the terminal if mlrun's group has it now. Returns whether it did.
  bool hand_over_terminal();
  // Takes the terminal back if the command got it and still has it.
  void take_terminal();
  // Notes whether the shell has taken the terminal back, as it does when only mlrun was stopped.
  void note_terminal();
  [[nodiscard]] bool waits_for_terminal() const { return terminal_.valid() && command_ > 0 && !handed_over_; }

  // Sends SIGHUP to the foreground group, as the kernel does when the leader of a session with a terminal ends.
  void command_ended();

 private:
  pid_t group_;
  bool own_group_ = false;
  bool own_session_ = false;
  bool handed_over_ = false;
  pid_t command_ = 0;
  util::UniqueFd terminal_;
};

}  // namespace mlrun::launch
