// SPDX-License-Identifier: Apache-2.0
// Two small processes beside a running command, so that mlrun can pass signals on as if it were not there.
//
//     mlrun ── guard            own session; no terminal, no signal meant for the job reaches it
//       │        └── witness    in mlrun's process group, with all signals blocked
//       └── command
//
// si_code and si_pid do not say whether a signal was sent to mlrun alone or to its group. A signal to the group is
// pending for the witness too: the kernel walks through the group under a lock, so the answer is exact, not timed.
// What no process can catch is the guard's work: SIGKILL to the group of mlrun, where the command has another one;
// SIGSTOP to mlrun alone or to such a group; a command that runs again while mlrun is stopped. The guard sees the end and
// the stops of its child, the witness, at once, and looks at mlrun ten times a second.
// Both end with mlrun. mlrun that is killed alone leaves the command running.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>

#include "runner/util/mapping.h"
#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class GroupWitness {
 public:
  // To be called while mlrun has one thread and holds little. nullptr where there are no processes, descriptors or
  // memory for it.
  static std::unique_ptr<GroupWitness> start();
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether this signal, which mlrun has just taken, was sent to its whole group.
  bool had(const siginfo_t& signal);

  // own_group: the command is the leader of a group of its own.
  void command_started(pid_t command, bool own_group);
  void command_ended();

  // Around a stop that mlrun gives itself.
  void set_stopping(bool stopping);
  // Whether this SIGCONT is of the guard: the command runs already. Says so once.
  bool woke(const siginfo_t& signal);

  // Its pid; 0: it could not be started.
  [[nodiscard]] pid_t witness();

 private:
  struct Shared;
  struct Answer;
  bool receive(Answer& answer);
  GroupWitness(util::Mapping memory, util::UniqueFd questions, util::UniqueFd life)
      : memory_(std::move(memory)), questions_(std::move(questions)), life_(std::move(life)) {}
  [[nodiscard]] Shared& shared() const;
  [[noreturn]] static void guard(Shared& shared, int questions, int life);
  [[noreturn]] static void bear_witness(int questions);
  friend class Guard;

  util::Mapping memory_;
  util::UniqueFd questions_;  // to the witness
  util::UniqueFd life_;       // closed when mlrun ends, however it ends
  pid_t guard_ = 0, witness_ = 0;
};

}  // namespace mlrun::launch
