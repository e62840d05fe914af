// SPDX-License-Identifier: Apache-2.0
// Signals of a running mlrun. A thread takes all of them; nothing in mlrun is interrupted, and its dispositions stay as they were
// found, for the command.
//
//   before the command   what would end mlrun ends the start
//   while it runs        passed on, unless the command had it as a member of mlrun's group (group_witness.h);
//                        mlrun stops when the command has stopped, and continues it when it is continued (job.h)
//   afterwards           Ctrl-C, Ctrl-\ and SIGTERM stop what mlrun still does
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runner/launch/group_witness.h"
#include "runner/launch/job.h"
#include "runner/util/result.h"

namespace mlrun::launch {

// One at a time. The thread that makes it is the one that may fork, and is the first.
class SignalRelay {
 public:
  // Throws std::system_error where no thread can be started.
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // A futex that is woken, and one added to it, by the end of the child and by what stops mlrun. nullptr: none.
  void set_wake_word(uint32_t* word);

  // Forks between what came before and what is passed on. Fails when mlrun was stopped.
  Result<pid_t> fork_command();

  // In the child: dispositions, mask and place as mlrun found them.
  void restore_in_child();

  // What was sent to this thread and not to the process.
  void take_own();

  // From now on Ctrl-C, Ctrl-\ and SIGTERM mean mlrun itself.
  void command_ended();
  // The same, and a hang-up too: there is no command that would end of it.
  void no_command();
  // What ended an observation does not stop the merge.
  void forget_stop();

  // Requires: asked_to_stop(). Its exit code is that of a command that the signal has ended.
  [[nodiscard]] Error stop_error() const;

  // Uses the current one; without one: false, and the caller's mask.
  [[nodiscard]] static bool asked_to_stop();
  [[nodiscard]] static sigset_t mask_for_children();
  // The merger, to be ended when mlrun is asked to stop; 0: it has ended.
  static void set_merger(pid_t pid);

 private:
  enum class Phase { kStart, kCommand, kAfter };
  void run();
  void take_pending();
  void take(const siginfo_t& signal);
  void take_at_start(int number);
  void pass_on(const siginfo_t& signal);
  void pass_to_group(const siginfo_t& signal);
  void take_afterwards(int number);
  void follow_stop();
  bool stop(int number);
  void wake();
  [[nodiscard]] bool was_ignored(int number) const;
  [[nodiscard]] bool had_by_group(const siginfo_t& signal);

  sigset_t mask_before_{}, ignored_before_{};
  struct sigaction child_before_ {};
  std::unique_ptr<GroupWitness> witness_;
  std::mutex mutex_;  // of all below, and of what is done to the command
  Job job_;
  std::atomic<Phase> phase_ = Phase::kStart;
  std::atomic<pid_t> command_ = 0;
  pid_t merger_ = 0;
  uint32_t* wake_word_ = nullptr;
  bool hangup_stops_ = false;
  std::atomic<int> stop_signal_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<siginfo_t> held_;  // what was blocked at the start is the command's
  std::thread thread_;
};

// The word of a relay while the memory that holds it is there.
class WakeWord {
 public:
  WakeWord(SignalRelay& relay, uint32_t* word) : relay_(relay) { relay_.set_wake_word(word); }
  ~WakeWord() { relay_.set_wake_word(nullptr); }
  WakeWord(const WakeWord&) = delete;
  WakeWord& operator=(const WakeWord&) = delete;

 private:
  SignalRelay& relay_;
};

// "signal 15 (Terminated)" of 15.
std::string signal_text(int number);

}  // namespace mlrun::launch
