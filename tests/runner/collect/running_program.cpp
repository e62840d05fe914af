// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/collect/running_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace mlrun::testing {

namespace {

void execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("MLRUN_SESSION");
  ::execvp(arguments[0], arguments.data());
  ::_exit(99);
}

void append(int& fd, std::string& text) {
  char bytes[4096];
  const ssize_t got = ::read(fd, bytes, sizeof bytes);
  if (got > 0) {
    text.append(bytes, static_cast<size_t>(got));
    return;
  }
  ::close(fd);
  fd = -1;
}

}  // namespace

int Ended::exit_status() const { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1; }

RunningProgram::RunningProgram(const std::vector<std::string>& command, bool terminal) {
  if (terminal) {
    pid_ = ::forkpty(&out_, nullptr, nullptr, nullptr);
    if (pid_ == 0) execute(command);
    ::fcntl(out_, F_SETFD, FD_CLOEXEC);
    in_ = ::fcntl(out_, F_DUPFD_CLOEXEC, 0);
    return;
  }
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    execute(command);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

RunningProgram::~RunningProgram() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {in_, out_, err_}) {
    if (fd >= 0) ::close(fd);
  }
}

bool RunningProgram::read_some() {
  pollfd ends[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if ((out_ < 0 && err_ < 0) || ::poll(ends, 2, 20'000) <= 0) return false;
  if (out_ >= 0 && ends[0].revents != 0) append(out_, ended_.out);
  if (err_ >= 0 && ends[1].revents != 0) append(err_, ended_.err);
  return true;
}

bool RunningProgram::wait_for(const std::string& text) {
  while (ended_.out.find(text) == std::string::npos) {
    if (!read_some()) return false;
  }
  return true;
}

void RunningProgram::type(const std::string& keys) const {
  if (::write(in_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) throw std::runtime_error("type");
}

Ended RunningProgram::wait() {
  while (read_some()) {
  }
  ::waitpid(pid_, &ended_.wait_status, 0);
  pid_ = 0;
  return ended_;
}

Ended run(const std::vector<std::string>& command) { return RunningProgram(command).wait(); }

}  // namespace mlrun::testing
