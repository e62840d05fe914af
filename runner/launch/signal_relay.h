// SPDX-License-Identifier: Apache-2.0
// Handles the signals of a running mlrun. One thread receives all of them, so no other is interrupted; dispositions
// stay as inherited, for the command.
//
//   before the command   a signal that would end mlrun aborts the start
//   while it runs        relayed, unless the command received it as a member of mlrun's group (group_witness.h);
//                        mlrun stops when the command stops, and continues it when continued itself (job.h)
//   afterwards           Ctrl-C, Ctrl-\ and SIGTERM stop the remaining work of mlrun
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

// One at a time. Only the thread that creates it may fork; it must be the main thread.
class SignalRelay {
 public:
  // Throws std::system_error if no thread can be started.
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // A futex that is incremented and woken at the end of the child and by signals that stop mlrun. nullptr: none.
  void set_wake_word(uint32_t* word);

  // Forks; signals received later are relayed. Fails if mlrun was stopped before.
  Result<pid_t> fork_command();

  // In the child: dispositions, mask and place as mlrun found them.
  void restore_in_child();

  // Handles signals directed to this thread instead of the process.
  void take_own();

  // From now on Ctrl-C, Ctrl-\ and SIGTERM mean mlrun itself.
  void command_ended();
  // The same and SIGHUP: there is no command that it would end.
  void no_command();
  // The signal that ended an observation does not stop the merge.
  void forget_stop();

  // Requires: asked_to_stop(). The exit code is that of a command ended by the signal.
  [[nodiscard]] Error stop_error() const;

  // Uses the current relay; without one: false, and the caller's mask.
  [[nodiscard]] static bool asked_to_stop();
  [[nodiscard]] static sigset_t mask_for_children();
  // The merger, ended when mlrun is asked to stop; 0: none.
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
  std::mutex mutex_;  // for all members below, and for operations on the command
  Job job_;
  std::atomic<Phase> phase_ = Phase::kStart;
  std::atomic<pid_t> command_ = 0;
  pid_t merger_ = 0;
  uint32_t* wake_word_ = nullptr;
  bool hangup_stops_ = false;
  std::atomic<int> stop_signal_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<siginfo_t> held_;  // signals that were blocked before mlrun started: sent to the command once it exists
  std::thread thread_;
};

// Sets the word of a relay for as long as its memory exists.
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
