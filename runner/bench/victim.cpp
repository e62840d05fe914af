// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/victim.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::bench {

namespace {

constexpr int kPatienceMs = 20'000;

// Starts the command with the socket as its standard input and our standard error. Signals that this process handles start with their
// default disposition and unblocked.
int spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment, int socket,
          pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, handled;
  sigemptyset(&none);
  sigfillset(&handled);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &handled);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawn(&pid, command[0].c_str(), &actions, &attributes, util::exec_pointers(command).data(),
                                  util::exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<Victim> Victim::start(const VictimOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("make a socket", errno);
  util::UniqueFd ours(ends[0]);
  const util::UniqueFd theirs(ends[1]);
  pid_t pid = 0;
  const int error =
      spawn({options.program, options.data, std::to_string(options.cpu)}, options.environment, theirs.get(), pid);
  if (error != 0)
    return fail_errno("start the measured program " + options.program + "; build or install mlrun again", error);
  return Victim(pid, std::move(ours));
}

Victim::Victim(Victim&& other) noexcept : pid_(std::exchange(other.pid_, 0)), socket_(std::move(other.socket_)) {}

Victim::~Victim() {
  if (pid_ == 0) return;
  socket_.reset();  // the victim exits at the end of its input
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<double> Victim::run(const std::string& loop, long iterations) {
  const std::string request = fmt::format("{} {}\n", loop, iterations);
  const auto failed = [&](const char* how) { return fail(fmt::format("cannot measure '{}': {}", loop, how)); };
  if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    return failed("the measured program has ended");
  pollfd ready{socket_.get(), POLLIN, 0};
  int answered = 0;
  do {
    answered = ::poll(&ready, 1, kPatienceMs);
  } while (answered < 0 && errno == EINTR);
  if (answered <= 0) return failed("the measured program does not answer");
  std::array<char, 64> text{};
  const ssize_t bytes = ::recv(socket_.get(), text.data(), text.size(), 0);
  int64_t cpu_ns = 0;
  if (bytes <= 0 || std::from_chars(text.data(), text.data() + bytes, cpu_ns).ec != std::errc())
    return failed("the measured program has ended");
  return static_cast<double>(cpu_ns);
}

}  // namespace mlrun::bench
