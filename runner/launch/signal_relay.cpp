// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/signal_relay.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "runner/collect/shared_word.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"

namespace mlrun::launch {

namespace {

SignalRelay* current = nullptr;

constexpr long kTerminalPollNs = 100'000'000;  // fg of a running job sends no signal

sigset_t all_signals() {
  sigset_t all;
  ::sigfillset(&all);
  return all;
}

bool is_stop(int number) { return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU; }

bool ends_by_default(int number) {
  return !is_stop(number) && number != SIGCHLD && number != SIGCONT && number != SIGURG && number != SIGWINCH;
}

// A signal from the kernel about this process itself (a fault, a limit), not meant for the command.
bool is_mlruns_own(const siginfo_t& signal) {
  if (signal.si_code <= 0) return signal.si_code != SI_QUEUE && signal.si_pid == ::getpid();
  switch (signal.si_signo) {
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGALRM:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGWINCH:
    case SIGPWR: return false;
    default: return true;
  }
}

bool is_pending(int number) {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, number) == 1;
}

bool is_any_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigisemptyset(&pending) == 0;
}

// Signals pending for this thread alone; all signals if /proc does not list them.
sigset_t pending_for_this_thread() {
  const std::string text = util::read_text("/proc/thread-self/status");
  const auto words = util::status_words(text, "SigPnd:");
  if (words.empty()) return all_signals();
  const auto bits = util::leading_number<uint64_t>(words.front(), 16);
  sigset_t pending;
  ::sigemptyset(&pending);
  for (int number = 1; number <= SIGRTMAX; number++) {
    if ((bits >> (number - 1) & 1) != 0) ::sigaddset(&pending, number);
  }
  return pending;
}

// Keeps value and sender, as far as the kernel permits.
bool send(pid_t pid, const siginfo_t& signal) {
  siginfo_t copy = signal;
  if (signal.si_code < 0 && signal.si_code != SI_TKILL &&
      ::syscall(SYS_rt_sigqueueinfo, pid, signal.si_signo, &copy) == 0) {
    return true;
  }
  return ::kill(pid, signal.si_signo) == 0;
}

}  // namespace

std::string signal_text(int number) { return fmt::format("signal {} ({})", number, ::strsignal(number)); }

SignalRelay::SignalRelay() : witness_(GroupWitness::start()) {
  const sigset_t all = all_signals();
  ::sigprocmask(SIG_SETMASK, &all, &mask_before_);
  ::sigemptyset(&ignored_before_);
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ::sigaddset(&ignored_before_, number);
  }
  struct sigaction wait_for_children {};
  wait_for_children.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &wait_for_children, &child_before_);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    throw;
  }
  current = this;
}

SignalRelay::~SignalRelay() {
  current = nullptr;
  ends_ = true;
  ::pthread_kill(thread_.native_handle(), SIGURG);
  thread_.join();
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  // A Ctrl-C also ends the merger, which mlrun may notice before its own signal. Pending signals are taken here, and after a stop further
  // ones stay blocked, so that mlrun still exits with the command's status.
  if (phase_ == Phase::kAfter) take_pending();
  if (phase_ == Phase::kAfter && stop_signal_ != 0) {
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::sigaddset(&mask_before_, number);
  }
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void SignalRelay::run() {
  const sigset_t all = all_signals();
  while (!ends_) {
    siginfo_t signal{};
    const timespec pause{0, kTerminalPollNs};
    bool polls = false;
    {
      const std::lock_guard lock(mutex_);
      polls = job_.own_group() && job_.waits_for_terminal();
    }
    const int taken = polls ? ::sigtimedwait(&all, &signal, &pause) : ::sigwaitinfo(&all, &signal);
    const std::lock_guard lock(mutex_);
    const bool asked_to_end = ends_ && signal.si_signo == SIGURG;
    if (taken > 0 && !asked_to_end) take(signal);
    if (ends_) return;
    if (polls) job_.hand_over_terminal();
  }
}

// Leaves process-directed signals to the relay's thread: two receivers could reorder them.
void SignalRelay::take_own() {
  if (!is_any_pending()) return;
  const std::lock_guard lock(mutex_);
  for (;;) {
    const sigset_t own = pending_for_this_thread();
    const timespec at_once{};
    siginfo_t signal{};
    if (::sigtimedwait(&own, &signal, &at_once) <= 0) return;
    take(signal);
  }
}

// Pending for this thread or for the process.
void SignalRelay::take_pending() {
  const sigset_t all = all_signals();
  const timespec at_once{};
  siginfo_t signal{};
  const std::lock_guard lock(mutex_);
  while (::sigtimedwait(&all, &signal, &at_once) > 0) take(signal);
}

void SignalRelay::take(const siginfo_t& signal) {
  if (signal.si_signo == SIGCHLD && signal.si_code > 0) {
    follow_stop();
    wake();
    return;
  }
  if (is_mlruns_own(signal)) return;
  switch (phase_.load()) {
    case Phase::kStart:
      if (::sigismember(&mask_before_, signal.si_signo) == 1) {
        held_.push_back(signal);
      } else {
        take_at_start(signal.si_signo);
      }
      return;
    case Phase::kCommand: pass_on(signal); return;
    case Phase::kAfter: take_afterwards(signal.si_signo); return;
  }
}

bool SignalRelay::was_ignored(int number) const { return ::sigismember(&ignored_before_, number) == 1; }

void SignalRelay::take_at_start(int number) {
  if (was_ignored(number)) return;
  if (is_stop(number)) stop(number);
  if (!ends_by_default(number) || stop_signal_ != 0) return;
  stop_signal_ = number;
  wake();
}

void SignalRelay::take_afterwards(int number) {
  if (was_ignored(number)) return;
  if (is_stop(number)) stop(number);
  const bool hangs_up = number == SIGHUP && hangup_stops_;
  if (number != SIGINT && number != SIGQUIT && number != SIGTERM && !hangs_up) return;
  stop_signal_ = number;
  if (merger_ > 0) ::kill(merger_, SIGTERM);
  wake();
}

bool SignalRelay::had_by_group(const siginfo_t& signal) {
  return witness_ ? witness_->had(signal) : signal.si_code > 0;
}

void SignalRelay::pass_on(const siginfo_t& signal) {
  if (witness_ && witness_->woke(signal)) return;
  const bool by_group = had_by_group(signal);
  if (signal.si_signo == SIGCONT) {
    job_.note_terminal();
    job_.hand_over_terminal();
  }
  if (by_group) {
    pass_to_group(signal);
  } else if (signal.si_code <= 0 && signal.si_pid == command_) {
    if (::getppid() > 0) send(::getppid(), signal);  // meant for the command's parent without mlrun
  } else {
    send(command_, signal);
  }
}

// If mlrun leads its group, the command would lead it without mlrun, and a leader cannot leave its group. So the command gets signals to that
// group even if it has left it.
void SignalRelay::pass_to_group(const siginfo_t& signal) {
  const pid_t group = ::getpgid(command_);
  const bool had_it = group == job_.group() || (!job_.own_group() && !job_.leads());
  if (had_it) return;
  const bool leads = group == command_;
  if (!leads || ::kill(-command_, signal.si_signo) != 0) ::kill(command_, signal.si_signo);
}

// mlrun's parent watches mlrun, so mlrun stops like the command, with the same signal.
void SignalRelay::follow_stop() {
  siginfo_t child{};
  if (phase_ != Phase::kCommand || ::waitid(P_PID, static_cast<id_t>(command_), &child, WSTOPPED | WNOHANG) != 0)
    return;
  if (child.si_pid == 0) return;
  const int number = child.si_status;
  const bool for_terminal = number == SIGTTIN || number == SIGTTOU;
  const bool has_it_now = for_terminal && job_.hand_over_terminal();
  if (!has_it_now) job_.take_terminal();
  if (!has_it_now && is_pending(SIGCONT)) return;  // the job has been continued since
  const bool stopped = !has_it_now && stop(number);
  if (stopped || !job_.own_group()) return;  // mlrun's own SIGCONT is relayed to the command
  job_.hand_over_terminal();
  ::kill(-command_, SIGCONT);
}

// False: orphaned group; the kernel does not stop its processes.
bool SignalRelay::stop(int number) {
  struct sigaction by_default {
  }, before{};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(number, &by_default, &before);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  if (witness_) witness_->set_stopping(true);
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);  // mlrun is suspended here until SIGCONT
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
  if (witness_) witness_->set_stopping(false);
  ::sigaction(number, &before, nullptr);
  return is_pending(SIGCONT);  // a stop signal discards pending SIGCONTs
}

void SignalRelay::wake() {
  if (wake_word_ == nullptr) return;
  __atomic_add_fetch(wake_word_, 1, __ATOMIC_ACQ_REL);
  collect::futex_wake_all(*wake_word_);
}

void SignalRelay::set_wake_word(uint32_t* word) {
  const std::lock_guard lock(mutex_);
  wake_word_ = word;
}

Result<pid_t> SignalRelay::fork_command() {
  take_pending();
  const std::lock_guard lock(mutex_);
  if (stop_signal_ != 0) return tl::make_unexpected(stop_error());
  if (witness_) job_ = Job(witness_->witness());
  const pid_t pid = ::fork();
  if (pid == 0) return pid;
  if (pid < 0) return fail_errno("start a process", errno);
  command_ = pid;
  phase_ = Phase::kCommand;
  if (witness_) witness_->command_started(pid, job_.own_group());
  job_.started(pid);
  for (const siginfo_t& signal : held_) send(pid, signal);
  return pid;
}

Error SignalRelay::stop_error() const {
  const int number = stop_signal_;
  return {"stopped by " + signal_text(number) + " at the start; nothing is recorded", 128 + number};
}

void SignalRelay::restore_in_child() {
  job_.enter_in_child();
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void SignalRelay::command_ended() {
  const std::lock_guard lock(mutex_);
  if (witness_) witness_->command_ended();
  job_.command_ended();
  phase_ = Phase::kAfter;
  command_ = 0;
}

void SignalRelay::no_command() {
  const std::lock_guard lock(mutex_);
  phase_ = Phase::kAfter;
  hangup_stops_ = true;
}

void SignalRelay::forget_stop() {
  const std::lock_guard lock(mutex_);
  hangup_stops_ = false;
  stop_signal_ = 0;
}

bool SignalRelay::asked_to_stop() { return current != nullptr && current->stop_signal_ != 0; }

sigset_t SignalRelay::mask_for_children() {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return current != nullptr ? current->mask_before_ : mask;
}

void SignalRelay::set_merger(pid_t pid) {
  if (current == nullptr) return;
  const std::lock_guard lock(current->mutex_);
  current->merger_ = pid;
  if (pid > 0 && current->stop_signal_ != 0) ::kill(pid, SIGTERM);
}

}  // namespace mlrun::launch
