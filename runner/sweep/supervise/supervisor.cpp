// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/supervise/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "runner/sweep/supervise/process_tree.h"
#include "runner/util/clock.h"
#include "runner/util/proc_files.h"

namespace mlrun::sweep {

namespace {

// Descendants that outlive the command have this long, as with `mlrun run`; then they get SIGTERM, and as long after that SIGKILL.
constexpr uint64_t kGraceNs = 2'000'000'000;
constexpr int kPollMs = 50;

// The signal state that the command gets back.
struct Signals {
  sigset_t mask{};
  struct sigaction child {};
};

[[noreturn]] void become(char* const* command, int gate, int exec_report, const Signals& before) {
  ::setsid();  // a session of its own, as `mlrun run` gives its command
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);  // the supervisor is gone
  ::sigaction(SIGCHLD, &before.child, nullptr);
  ::sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  ::execvp(command[0], command);
  const int error_number = errno;
  [[maybe_unused]] const ssize_t put = ::write(exec_report, &error_number, sizeof error_number);
  ::_exit(127);
}

}  // namespace

Status Supervisor::run(char* const* command) {
  if (Status started = start(command); !started) return started;
  report(Stage::kReady);
  while (!nothing_left_) work();
  report(Stage::kGone);
  return {};
}

Status Supervisor::start(char* const* command) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return fail_errno("adopt descendants", errno);
  Signals before;
  sigset_t all, child;
  ::sigfillset(&all);
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &all, &before.mask);
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &default_action, &before.child);  // an ignored SIGCHLD would hide the ends of children
  children_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  int gate[2], exec_report[2];
  if (!children_.valid() || ::pipe2(gate, O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
  const util::UniqueFd gate_of_child(gate[0]);
  gate_.reset(gate[1]);
  if (::pipe2(exec_report, O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
  exec_report_.reset(exec_report[0]);
  const util::UniqueFd report_of_child(exec_report[1]);
  child_ = ::fork();
  if (child_ < 0) return fail_errno("start a process", errno);
  if (child_ == 0) {
    gate_.reset();
    become(command, gate[0], exec_report[1], before);
  }
  report_.pid = child_;
  if (const auto stat = util::read_proc_stat(static_cast<uint32_t>(child_))) report_.start_ticks = stat->start_ticks;
  return {};
}

void Supervisor::report(Stage stage) {
  report_.stage = stage;
  ::send(control_.get(), &report_, sizeof report_, MSG_NOSIGNAL);
}

void Supervisor::work() {
  pollfd files[] = {{control_.get(), POLLIN, 0}, {children_.get(), POLLIN, 0}};
  const bool waits = !has_ended_ && !is_killing_;
  ::poll(files, 2, waits ? -1 : kPollMs);
  if (files[0].revents != 0) take_demand();
  signalfd_siginfo ignored{};
  while (::read(children_.get(), &ignored, sizeof ignored) > 0) {
  }
  reap();
  if (nothing_left_) return;
  if (is_killing_) {
    kill_all(SIGKILL);
  } else if (has_ended_) {
    end_left_running(util::monotonic_ns());
  }
}

void Supervisor::take_demand() {
  char demand = 0;
  const ssize_t got = ::recv(control_.get(), &demand, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got != 1) {
    is_killing_ = true;  // the sweep is gone
    control_.reset();
    return;
  }
  switch (static_cast<Demand>(demand)) {
    case Demand::kGo: return go();
    case Demand::kTerm:
      if (!has_ended_) ::kill(-child_, SIGTERM);
      return;
    case Demand::kKill: is_killing_ = true;
  }
}

void Supervisor::go() {
  report_.started_ns = util::monotonic_ns();
  const char go = 1;
  [[maybe_unused]] const ssize_t put = ::write(gate_.get(), &go, 1);
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(exec_report_.get(), &error_number, sizeof error_number);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error_number) return;
  report_.error_number = error_number;
  report(Stage::kNoExec);
}

// Orphans of the command have become our children: when none is left, no descendant is.
void Supervisor::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      nothing_left_ = errno == ECHILD;
      return;
    }
    if (info.si_pid == 0) return;
    if (info.si_pid == child_) {
      note_end();
    } else {
      ::waitpid(info.si_pid, nullptr, WNOHANG);
    }
  }
}

void Supervisor::note_end() {
  report_.ended_ns = util::monotonic_ns();
  if (const auto io = util::read_io_counts(static_cast<uint32_t>(child_))) {
    report_.read_bytes = static_cast<int64_t>(io->read_bytes);  // exists until the process is reaped
  }
  ::wait4(child_, &report_.wait_status, 0, &report_.usage);
  has_ended_ = true;
  kill_at_ns_ = report_.ended_ns + kGraceNs;
  report(Stage::kEnded);
}

void Supervisor::kill_all(int signal) {
  const auto self = static_cast<uint32_t>(::getpid());
  for (const Process& process : tree_of(all_processes(), [&](const Process& one) { return one.stat.ppid == self; })) {
    ::kill(static_cast<pid_t>(process.pid), signal);
  }
}

void Supervisor::end_left_running(uint64_t now_ns) {
  if (now_ns < kill_at_ns_) return;
  if (report_.left_running > 0) {
    is_killing_ = true;
    return;
  }
  const auto self = static_cast<uint32_t>(::getpid());
  const auto left = tree_of(all_processes(), [&](const Process& one) { return one.stat.ppid == self; });
  report_.left_running = static_cast<int32_t>(left.size());
  for (const Process& process : left) ::kill(static_cast<pid_t>(process.pid), SIGTERM);
  kill_at_ns_ = now_ns + kGraceNs;
}

}  // namespace mlrun::sweep
