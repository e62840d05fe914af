// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "runner/util/file_io.h"
#include "runner/util/proc_lines.h"

namespace mlrun::launch {

namespace {

constexpr int kPollMs = 100;
constexpr int kDyingMs = 500;  // a killed process of the group ends long before
constexpr time_t kAnswerSeconds = 1;

struct Question {
  uint32_t number = 0;
  siginfo_t signal{};
};

// An inherited write end would keep a pipe's reader waiting.
void close_all_but(const std::vector<int>& kept) {
  unsigned from = 0;
  for (const int fd : kept) {  // ascending
    const auto number = static_cast<unsigned>(fd);
    if (number > from) ::syscall(SYS_close_range, from, number - 1, 0);
    from = number + 1;
  }
  if (::syscall(SYS_close_range, from, ~0u, 0) == 0) return;
  const long most = std::min(::sysconf(_SC_OPEN_MAX), 65536l);  // close_range needs Linux 5.9
  for (int fd = 0; fd < most; fd++) {
    if (std::find(kept.begin(), kept.end(), fd) == kept.end()) ::close(fd);
  }
}

// A sender to a group holds the lock that setpgid takes: afterwards all members have the signal, or none. No group has
// this number, so nothing changes. (The number of mlrun's own group is 0 where its leader is outside of the PID
// namespace, and setpgid(0, 0) would leave that group.)
void wait_for_senders() { ::setpgid(0, std::numeric_limits<pid_t>::max()); }

bool same(const siginfo_t& a, const siginfo_t& b) {
  return a.si_signo == b.si_signo && a.si_code == b.si_code && a.si_pid == b.si_pid &&
         a.si_value.sival_ptr == b.si_value.sival_ptr;
}

// State letter from /proc: 'T' is stopped. 0: no such process.
char state_of(pid_t pid) {
  const std::string text = util::read_text("/proc/" + std::to_string(pid) + "/stat", 512);
  const auto words = util::stat_words(text);
  return words.empty() ? '\0' : words.front().front();
}

}  // namespace

struct GroupWitness::Answer {
  uint32_t number = 0;  // number of the answered question; 0: the witness has started
  pid_t witness = 0;
  bool had = false;
};

struct GroupWitness::Shared {
  std::atomic<pid_t> command = 0;
  std::atomic<bool> own_group = false;
  std::atomic<bool> stopping = false;  // mlrun has stopped itself, because the command has
  std::atomic<bool> woken = false;     // the guard has woken mlrun
  std::atomic<bool> finished = false;  // mlrun ends by itself
};

// Acts for mlrun and the command while they are stopped or dead.
class Guard {
 public:
  Guard(GroupWitness::Shared& shared, pid_t mlrun, pid_t witness) : shared_(shared), mlrun_(mlrun), witness_(witness) {}

  void watch(int life) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int ends = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    pollfd ready[2] = {{life, POLLIN, 0}, {ends, POLLIN, 0}};
    while (ready[0].revents == 0) {
      ready[0].revents = ready[1].revents = 0;
      ::poll(ready, 2, kPollMs);
      signalfd_siginfo taken{};
      while (::read(ends, &taken, sizeof taken) > 0) {
      }
      check_witness();
      check_mlrun();
    }
    end();
  }

 private:
  void signal_command(int number) const {
    const pid_t command = shared_.command;
    if (command > 0) ::kill(shared_.own_group ? -command : command, number);
  }

  void check_witness() {
    int status = 0;
    while (!ended_ && ::waitpid(witness_, &status, WNOHANG | WUNTRACED | WCONTINUED) == witness_) {
      group_stopped_ = WIFSTOPPED(status);
      killed_ = WIFSIGNALED(status);
      ended_ = killed_ || WIFEXITED(status);
      if (group_stopped_ && shared_.own_group) signal_command(SIGSTOP);
    }
  }

  // Acts only on two equal observations in a row: a stop of the group reaches its members one after the other.
  void check_mlrun() {
    const bool is_stopped = state_of(mlrun_) == 'T';
    const bool alone = is_stopped && !group_stopped_ && !shared_.stopping && shared_.command > 0;
    if (alone && ++times_alone_ == 2) signal_command_alone(SIGSTOP);
    if (!alone) times_alone_ = 0;
    const bool left_behind = is_stopped && shared_.stopping && shared_.command > 0 && state_of(shared_.command) != 'T';
    times_behind_ = left_behind ? times_behind_ + 1 : 0;
    if (times_behind_ != 2) return;
    shared_.woken = true;
    ::kill(mlrun_, SIGCONT);
  }

  void signal_command_alone(int number) const {
    const pid_t command = shared_.command;
    if (command > 0) ::kill(command, number);
  }

  // mlrun has ended. A kill of its whole group also kills the witness.
  void end() {
    for (int waited_ms = 0; !shared_.finished && !killed_ && waited_ms < kDyingMs; waited_ms += 5) {
      ::poll(nullptr, 0, 5);
      check_witness();
    }
    if (!shared_.finished && killed_ && shared_.own_group) signal_command(SIGKILL);
    if (ended_) return;
    ::kill(witness_, SIGKILL);
    ::waitpid(witness_, nullptr, 0);  // else process 1 must reap it, and in a container it may not
  }

  GroupWitness::Shared& shared_;
  pid_t mlrun_, witness_;
  bool group_stopped_ = false, killed_ = false, ended_ = false;  // what happened to the witness
  int times_alone_ = 0, times_behind_ = 0;
};

void GroupWitness::guard(Shared& shared, int questions, int life) {
  const pid_t mlrun = ::getppid();
  const pid_t witness = ::fork();
  if (witness < 0) ::_exit(1);
  if (witness == 0) bear_witness(questions);
  ::setsid();
  close_all_but({life});
  Guard(shared, mlrun, witness).watch(life);
  ::_exit(0);
}

void GroupWitness::bear_witness(int questions) {
  close_all_but({questions});
  ::prctl(PR_SET_NAME, "mlrun-witness");
  Answer answer{0, ::getpid(), false};
  ::send(questions, &answer, sizeof answer, MSG_NOSIGNAL);
  std::vector<siginfo_t> queued;  // real-time signals, which queue individually
  Question question;
  while (::recv(questions, &question, sizeof question, 0) == sizeof question) {
    const int number = question.signal.si_signo;
    sigset_t asked;
    ::sigemptyset(&asked);
    ::sigaddset(&asked, number);
    const timespec at_once{};
    siginfo_t taken{};
    answer.number = question.number;
    answer.had = false;
    while (::sigtimedwait(&asked, &taken, &at_once) > 0) {
      if (number < SIGRTMIN) answer.had = true;
      if (number >= SIGRTMIN) queued.push_back(taken);
    }
    const auto found = std::find_if(queued.begin(), queued.end(),
                                    [&](const siginfo_t& signal) { return same(signal, question.signal); });
    if (found != queued.end()) {
      answer.had = true;
      queued.erase(found);
    }
    ::send(questions, &answer, sizeof answer, MSG_NOSIGNAL);
  }
  ::_exit(0);
}

std::unique_ptr<GroupWitness> GroupWitness::start() {
  util::Mapping memory(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                       sizeof(Shared));
  int ends[2], life[2];
  if (!memory.valid() || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  util::UniqueFd ours(ends[0]), theirs(ends[1]);
  if (::pipe2(life, O_CLOEXEC) != 0) return nullptr;
  const util::UniqueFd watched(life[0]);
  std::unique_ptr<GroupWitness> result(new GroupWitness(std::move(memory), std::move(ours), util::UniqueFd(life[1])));
  auto* shared = new (result->memory_.data()) Shared();
  const timeval patience{kAnswerSeconds, 0};
  ::setsockopt(result->questions_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);

  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);  // the helpers keep this mask
  const pid_t guard = ::fork();
  if (guard == 0) GroupWitness::guard(*shared, theirs.get(), watched.get());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (guard < 0) return nullptr;
  result->guard_ = guard;
  theirs.reset();
  return result;
}

GroupWitness::~GroupWitness() {
  shared().finished = true;
  questions_.reset();
  life_.reset();
  while (guard_ > 0 && ::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

GroupWitness::Shared& GroupWitness::shared() const { return *reinterpret_cast<Shared*>(memory_.data()); }

bool GroupWitness::had(const siginfo_t& signal) {
  static uint32_t number = 0;
  wait_for_senders();
  const Question question{++number, signal};
  Answer answer;
  if (::send(questions_.get(), &question, sizeof question, MSG_NOSIGNAL) < 0) return signal.si_code > 0;
  while (receive(answer)) {
    if (answer.number == number) return answer.had;
  }
  return signal.si_code > 0;
}

bool GroupWitness::receive(Answer& answer) {
  if (::recv(questions_.get(), &answer, sizeof answer, 0) != sizeof answer) return false;
  witness_ = answer.witness;
  return true;
}

void GroupWitness::command_started(pid_t command, bool own_group) {
  shared().own_group = own_group;
  shared().command = command;
}

void GroupWitness::command_ended() { shared().command = 0; }

void GroupWitness::set_stopping(bool stopping) { shared().stopping = stopping; }

bool GroupWitness::woke(const siginfo_t& signal) {
  return signal.si_signo == SIGCONT && signal.si_pid == guard_ && shared().woken.exchange(false);
}

pid_t GroupWitness::witness() {
  Answer hello;
  if (witness_ == 0) receive(hello);
  return witness_;
}

}  // namespace mlrun::launch
