// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/child_text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runner/util/text.h"

namespace mlrun::exchange {

Result<std::unique_ptr<ChildText>> ChildText::start(const std::vector<std::string>& words, const std::string& advice) {
  std::unique_ptr<ChildText> child(new ChildText());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
  child->output_.reset(ends[0]);
  const util::UniqueFd write_end(ends[1]);
  child->errors_.reset(::memfd_create("errors", MFD_CLOEXEC));
  if (!child->errors_.valid()) return fail_errno("make a file in memory", errno);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, child->errors_.get(), STDERR_FILENO);
  const int error = ::posix_spawnp(&child->pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    child->pid_ = -1;
    return fail("cannot start " + words[0] + ": " + std::strerror(error) + "; " + advice);
  }
  return child;
}

ChildText::~ChildText() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

Result<size_t> ChildText::read(char* to, size_t size) {
  for (;;) {
    const ssize_t got = ::read(output_.get(), to, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return fail_errno("read what a program prints", errno);
  }
}

Status ChildText::finish(const std::string& what) {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string text = last_complaint();
  return fail(what + " failed: " + (text.empty() ? "without a message" : text));
}

std::string ChildText::last_complaint() const {
  std::array<char, 4096> errors{};
  const off_t size = ::lseek(errors_.get(), 0, SEEK_END);
  const off_t from = std::max<off_t>(size - static_cast<off_t>(errors.size()), 0);
  const ssize_t got = ::pread(errors_.get(), errors.data(), errors.size(), from);
  std::string text(errors.data(), got < 0 ? 0 : static_cast<size_t>(got));
  while (text.ends_with('\n')) text.pop_back();
  return util::printable(text.substr(text.rfind('\n') + 1));
}

}  // namespace mlrun::exchange
