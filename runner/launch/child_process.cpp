// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "runner/launch/program_file.h"
#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::launch {

namespace {

Error exec_error(const std::string& program, int error_number) {
  const bool missing = error_number == ENOENT || error_number == ENOTDIR;
  if (const std::string interpreter = missing ? missing_interpreter(program) : ""; !interpreter.empty()) {
    return {"cannot execute " + program + ": its interpreter " + util::printable(interpreter) + " does not exist", 127};
  }
  if (missing && program.find('/') == std::string::npos) return {program + ": command not found", 127};
  return {"cannot execute " + program + ": " + std::strerror(error_number), missing ? 127 : 126};
}

// The errno of exec reported by the child, or the negative one of what precedes exec; 0 when a successful exec closed the
// pipe.
int read_report(int fd) {
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &error_number, sizeof error_number);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error_number) ? error_number : 0;
}

// Whether the child was killed before its exec, which also closes the pipe. False if /proc does not say.
bool never_executed(pid_t pid) {
  constexpr uint64_t kForkedNotExecuted = 0x40;  // PF_FORKNOEXEC
  constexpr size_t kFlags = 6;
  const std::string stat = util::read_text(fmt::format("/proc/{}/stat", pid), 1024);
  const auto words = util::stat_words(stat);
  return words.size() > kFlags && (util::leading_number<uint64_t>(words[kFlags]) & kForkedNotExecuted) != 0;
}

}  // namespace

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::vector<std::string>& environment, SignalRelay& relay,
                                         const std::function<int()>& in_child,
                                         const std::function<void(pid_t)>& in_parent) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
  const util::UniqueFd report(ends[0]);
  util::UniqueFd report_in_child(ends[1]);
  const std::vector<char*> arguments = util::exec_pointers(command);
  const std::vector<char*> variables = util::exec_pointers(environment);

  const auto forked = relay.fork_command();
  if (!forked) return tl::make_unexpected(forked.error());
  ChildProcess child;
  child.pid_ = *forked;
  if (child.pid_ == 0) {
    relay.restore_in_child();
    int error_number = -in_child();
    if (error_number == 0) {
      ::execvpe(arguments[0], arguments.data(), variables.data());
      error_number = errno;
    }
    [[maybe_unused]] const ssize_t put = ::write(report_in_child.get(), &error_number, sizeof error_number);
    ::_exit(127);
  }
  in_parent(child.pid_);
  report_in_child.reset();
  if (const int error_number = read_report(report.get()); error_number != 0) {
    while (::waitpid(child.pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (error_number < 0) return fail_errno("place " + command[0] + " on its CPUs and nodes", -error_number);
    return tl::make_unexpected(exec_error(command[0], error_number));
  }
  if (never_executed(child.pid_)) {
    int status = 0;
    while (::waitpid(child.pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return fail("stopped by " + signal_text(WTERMSIG(status)) + " at the start; nothing is recorded",
                shell_status(status));
  }
  return child;
}

std::optional<ChildEnd> ChildProcess::poll(const std::function<bool()>& may_reap) {
  // The kernel's counts in /proc exist until the child is reaped.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return {};
  if (!may_reap()) return {};
  ChildEnd end;
  end.io = util::read_io_counts(static_cast<uint32_t>(pid_));
  if (::wait4(pid_, &end.wait_status, WNOHANG, &end.usage) != pid_) return {};
  wait_status_ = end.wait_status;
  return end;
}

int ChildProcess::wait() {
  if (wait_status_) return *wait_status_;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Error become(const std::vector<std::string>& command) {
  const std::vector<char*> arguments = util::exec_pointers(command);
  ::execvp(arguments[0], arguments.data());
  return exec_error(command[0], errno);
}

}  // namespace mlrun::launch
