// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/signal_relay.h"

#include <cerrno>
#include <initializer_list>

namespace mlrun::launch {

namespace {

volatile sig_atomic_t target_pid = 0;
volatile sig_atomic_t ended = 0;
volatile sig_atomic_t hangup_stops = 0;
volatile sig_atomic_t stop_asked = 0;
uint32_t* wake_word_of_collector = nullptr;

void wake_collector() {
  if (wake_word_of_collector != nullptr) __atomic_add_fetch(wake_word_of_collector, 1, __ATOMIC_ACQ_REL);
}

void on_child(int, siginfo_t*, void*) { wake_collector(); }

// si_code > 0: the kernel sent it, to the whole group if it came from the terminal.
void on_signal(int number, siginfo_t* info, void*) {
  const int error_before = errno;
  if (ended != 0) {
    const bool hangs_up = number == SIGHUP && hangup_stops != 0;
    if (number == SIGINT || number == SIGQUIT || number == SIGTERM || hangs_up) stop_asked = 1;
    wake_collector();
  } else if (info->si_code <= 0 && target_pid > 0) {
    ::kill(target_pid, number);
  }
  errno = error_before;
}

}  // namespace

SignalRelay::SignalRelay(uint32_t* wake_word) {
  wake_word_of_collector = wake_word;
  target_pid = 0;
  ended = 0;
  hangup_stops = 0;
  stop_asked = 0;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_before_);
  for (const int number :
       {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGIO, SIGPWR, SIGXCPU}) {
    install(number, on_signal, 0);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; number++) install(number, on_signal, 0);
  install(SIGCHLD, on_child, SA_NOCLDSTOP);
  ignore(SIGPIPE);  // a reader of our stderr may go away
}

SignalRelay::~SignalRelay() {
  for (const Saved& saved : saved_) ::sigaction(saved.number, &saved.action, nullptr);
  wake_word_of_collector = nullptr;
}

void SignalRelay::install(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  Saved saved{number, {}};
  ::sigaction(number, nullptr, &saved.action);
  if (saved.action.sa_handler == SIG_IGN && number != SIGCHLD) return;
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  ::sigaction(number, &action, nullptr);
  saved_.push_back(saved);
}

void SignalRelay::ignore(int number) {
  Saved saved{number, {}};
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(number, &action, &saved.action);
  saved_.push_back(saved);
}

void SignalRelay::block() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

void SignalRelay::unblock() { ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

void SignalRelay::restore_in_child() {
  for (const Saved& saved : saved_) ::sigaction(saved.number, &saved.action, nullptr);
  unblock();
}

void SignalRelay::set_target(pid_t pid) { target_pid = pid; }

void SignalRelay::command_ended() { ended = 1; }

void SignalRelay::no_command() {
  hangup_stops = 1;
  ended = 1;
}

bool SignalRelay::asked_to_stop() { return stop_asked != 0; }

}  // namespace mlrun::launch
