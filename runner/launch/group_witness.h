// SPDX-License-Identifier: Apache-2.0
// Two helper processes beside a running command, so that mlrun can relay signals transparently.
//
//     mlrun ── guard            own session; no terminal, no signal meant for the job reaches it
//       │        └── witness    in mlrun's process group, with all signals blocked
//       └── command
//
// si_code and si_pid do not show whether a signal was sent to mlrun alone or to its group. A signal to the group is
// pending for the witness too: the kernel walks the group under a lock, so the answer is exact, not timed.
// The guard handles what no process can catch: SIGKILL to mlrun's group when the command has another one; SIGSTOP to
// mlrun alone or to such a group; a command that runs again while mlrun is stopped. The guard notices the end and the
// stops of its child, the witness, at once, and checks mlrun ten times a second.
// Both end with mlrun. If only mlrun is killed, the command keeps running.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>

#include "runner/util/mapping.h"
#include "runner/util/unique_fd.h"

namespace mlrun::launch {

class GroupWitness {
 public:
  // To be called while mlrun is single-threaded and small. nullptr if processes, descriptors or memory are short.
  static std::unique_ptr<GroupWitness> start();
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether this signal, which mlrun has just received, was sent to its whole group.
  bool had(const siginfo_t& signal);

  // own_group: the command leads its own group.
  void command_started(pid_t command, bool own_group);
  void command_ended();

  // Around a stop of mlrun by itself.
  void set_stopping(bool stopping);
  // Whether this SIGCONT is from the guard, because the command runs again. True once.
  bool woke(const siginfo_t& signal);

  // Its pid; 0: the start failed.
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
