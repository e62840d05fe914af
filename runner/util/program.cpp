// SPDX-License-Identifier: Apache-2.0
#include "runner/util/program.h"

#include <signal.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>

#include "runner/util/enough_stack.h"
#include "runner/util/log.h"
#include "runner/util/memory_shortage.h"
#include "runner/util/standard_streams.h"

namespace mlrun::util {

namespace {

constexpr int kOwnFailure = 125;

// Flushes stdio's buffer and closes stdout: some file systems (NFS) report a full disk only then. If this program has
// printed nothing, stdout stays open, since only the traced command writes to it. Returns 0 or an errno.
int flush_output() {
  if (__fbufsize(stdout) == 0) return 0;  // stdio allocates the buffer at the first output
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) != 0) return errno != 0 ? errno : EIO;
  if (failed_before) return EIO;
  return std::fclose(stdout) == 0 ? 0 : errno;
}

int report(const Error& error) {
  say_error(error.text);
  std::fwrite(error.below.data(), 1, error.below.size(), stderr);
  return error.exit_code;
}

int run_verb(const std::function<Result<int>()>& verb) {
  Result<int> status = kOwnFailure;
  int thrown_error = 0;
  try {
    status = verb();
  } catch (const std::system_error& error) {  // fmt::print throws when a write fails
    if (std::ferror(stdout) == 0 && is_memory_shortage(error)) end_for_want_of_memory();
    status = fail(error.what());
    if (std::ferror(stdout) != 0) thrown_error = error.code().value();
  } catch (const std::exception& error) {
    if (is_memory_shortage(error)) end_for_want_of_memory();
    status = fail(error.what());
  }
  const int flush_error = flush_output();
  const int output_error = thrown_error != 0 ? thrown_error : flush_error;
  if (output_error == EPIPE) end_by_sigpipe();
  if (thrown_error != 0 || (output_error != 0 && status)) {
    return report({std::string("cannot write to standard output: ") + std::strerror(output_error), kOwnFailure});
  }
  return status ? *status : report(status.error());
}

}  // namespace

Status check_output() {
  if (::write(STDOUT_FILENO, "", 0) == 0) return {};
  return fail_errno("write to standard output", errno);
}

void end_by_sigpipe() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::sigprocmask(SIG_UNBLOCK, &pipe, nullptr);
  ::raise(SIGPIPE);
}

int run_program(const std::function<Result<int>()>& verb) {
  hold_standard_descriptors();
  return run_with_enough_stack([&] { return run_verb(verb); });
}

}  // namespace mlrun::util
