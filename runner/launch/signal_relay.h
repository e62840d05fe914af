// SPDX-License-Identifier: Apache-2.0
// Signals of a running mlrun. The command shares mlrun's process group, so what the terminal sends (Ctrl-C, Ctrl-\,
// Ctrl-Z, hang-up) reaches it anyway; what somebody sends to mlrun alone is passed on. Signals that mlrun inherited as
// ignored stay ignored, for the command too.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace mlrun::launch {

// One at a time: handlers have no other way to find it.
class SignalRelay {
 public:
  // Installs the handlers. The end of the child adds one to `wake_word` (may be null), so that a futex wait on it does
  // not begin.
  explicit SignalRelay(uint32_t* wake_word);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // Around fork: no signal may meet a child that still has our handlers.
  void block();
  void unblock();

  // In the child: dispositions and mask as mlrun found them.
  void restore_in_child();

  void set_target(pid_t pid);

  // From now on Ctrl-C, Ctrl-\ and SIGTERM mean mlrun itself.
  void command_ended();
  // The same, and a hang-up too: there is no command that would end of it.
  void no_command();
  [[nodiscard]] static bool asked_to_stop();

 private:
  struct Saved {
    int number;
    struct sigaction action;
  };
  void install(int number, void (*handler)(int, siginfo_t*, void*), int flags);
  void ignore(int number);

  std::vector<Saved> saved_;
  sigset_t mask_before_{};
};

}  // namespace mlrun::launch
