// SPDX-License-Identifier: Apache-2.0
// The command's place among process groups, sessions and terminals: the one that it has without mlrun, as far as two processes
// can have it.
//
// A command that a shell starts for itself is the leader of its group. Where mlrun is that leader and alone in its group, the
// command gets a group of its own, and the terminal with it while mlrun's group is in the foreground (a session of its own where
// mlrun leads one without a terminal). Everywhere else it shares mlrun's group with the processes that were there before it.
#pragma once

#include <sys/types.h>

#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class Job {
 public:
  // Looks at the process group now. `witness`: a member of it that does not count.
  explicit Job(pid_t witness);
  // The command shares the group.
  Job() : group_(::getpgrp()) {}

  [[nodiscard]] bool own_group() const { return own_group_; }
  [[nodiscard]] bool leads() const { return group_ == ::getpid(); }
  [[nodiscard]] pid_t group() const { return group_; }

  // Before exec, and before the parent goes on with started().
  void enter_in_child() const;
  void started(pid_t command);

  // Gives the command the terminal if mlrun's group has it now. Whether it did.
  bool hand_over_terminal();
  // Takes it back if the command was given it and has it.
  void take_terminal();
  // A shell takes it itself when mlrun alone was stopped.
  void note_terminal();
  [[nodiscard]] bool waits_for_terminal() const { return terminal_.valid() && command_ > 0 && !handed_over_; }

  // What the kernel does when the leader of a session with a terminal ends: its foreground group hangs up.
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
