// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/merge_process.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "runner/collect/kept_file.h"
#include "runner/collect/recording.h"
#include "runner/events/session.h"
#include "runner/launch/signal_relay.h"
#include "runner/util/memory_shortage.h"

namespace mlrun::launch {

namespace {

// Returns the wait status.
Result<int> run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const sigset_t mask = SignalRelay::mask_for_children();
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  // Arrow's jemalloc, unused by the merger, starts a thread and prints a line if that fails.
  ::setenv("JE_ARROW_MALLOC_CONF", "background_thread:false", 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail_errno("start " + command[0], error);
  SignalRelay::set_merger(pid);
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  SignalRelay::set_merger(0);  // before its pid can be reused
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Status merge(const MergeOptions& options) {
  std::vector<std::string> command = {options.trace_program, "finish", options.trace_folder};
  if (options.quiet) command.emplace_back("--quiet");
  const auto status = run(command);
  const std::string advice = fmt::format("everything is kept; finish it with: mlrun recover {}", options.trace_folder);
  if (!status) return fail(fmt::format("{}; {}", status.error().text, advice));
  if (WIFSIGNALED(*status)) {
    const int signal = WTERMSIG(*status);
    const bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    const std::string how =
        asked ? "was interrupted" : fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
    return fail(fmt::format("the merge {}; {}", how, advice));
  }
  if (WEXITSTATUS(*status) == util::kMemoryShortStatus) {
    return fail("memory is too short for the merge (ulimit -v, -d or -u, or the limit of the cgroup); " + advice);
  }
  if (*status != 0) return fail("the trace could not be made; " + advice);
  if (!options.keep_raw) {
    ::unlink(collect::spool_path(options.trace_folder).c_str());
    const std::string kept = collect::kept_path(options.trace_folder);
    ::unlink(kept.c_str());
    ::unlink(collect::KeptFile::unfinished_path(kept).c_str());
    ::unlink((options.trace_folder + "/" + MLRUN_KERNEL_FILE).c_str());
    ::unlink(collect::sums_path(options.trace_folder).c_str());
    ::unlink((options.trace_folder + "/" + MLRUN_SESSION_FILE).c_str());
  }
  return {};
}

}  // namespace mlrun::launch
