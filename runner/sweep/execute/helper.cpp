// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/helper.h"

#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "runner/events/session.h"
#include "runner/session/installation.h"
#include "runner/sweep/execute/supervised.h"
#include "runner/sweep/execute/time_limit.h"
#include "runner/util/units.h"

namespace mlrun::sweep {

Result<std::optional<HelperEnd>> run_helper(Making& making, const Words& command,
                                            const std::map<std::string, std::string>& environment,
                                            const std::string& output, uint64_t limit_ns) {
  SuperviseOptions options;
  options.command = command;
  options.environment = environment;
  options.output = options.errors = output;
  options.lock_fd = making.store.lock_fd();
  const auto helper = Supervised::start(options);
  if (!helper) return tl::make_unexpected(helper.error());
  if (Status stored = making.store.set_helper(helper->processes()); !stored) return tl::make_unexpected(stored.error());
  helper->demand(Demand::kGo);
  TimeLimit limit(*helper, limit_ns);
  std::optional<int> status;
  for (bool is_stopped = false;;) {
    const auto report = helper->next(TimeLimit::kTickMs, is_stopped ? nullptr : &making.signals);
    if (!report) {
      if (is_stopped) continue;
      is_stopped = making.signals.taken().has_value();
      if (is_stopped) helper->demand(Demand::kKill);
      if (!is_stopped && !status && limit.is_due()) limit.enforce();
      continue;
    }
    if (report->stage == Stage::kNoExec) return fail_errno("execute " + command.front(), report->error_number);
    if (report->stage == Stage::kEnded) status = report->wait_status;
    if (report->stage != Stage::kGone) continue;
    if (is_stopped) return std::optional<HelperEnd>();
    if (!status) return fail("the supervisor of " + command.front() + " was killed");
    return HelperEnd{*status, limit.was_enforced()};
  }
}

Status recover_half_trace(Making& making, const std::string& trace_folder) {
  std::error_code error;
  if (!std::filesystem::exists(trace_folder + "/" MLRUN_SESSION_FILE, error)) return {};
  const Words recover = {session::find_installation().mlrun_program, "recover", trace_folder};
  const auto recovered = run_helper(making, recover, {}, making.helper_log("recover"));
  return recovered ? Status() : tl::make_unexpected(recovered.error());
}

std::string end_text(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("exit status {}", WEXITSTATUS(wait_status));
  return fmt::format("signal {} ({})", WTERMSIG(wait_status), ::strsignal(WTERMSIG(wait_status)));
}

uint64_t free_bytes(const std::string& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return UINT64_MAX;
  return static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
}

Error disk_full(const std::string& folder) {
  return Error{
      fmt::format("the disk of {} is full ({} free); nothing is lost: make room, then: mlrun sweep --resume {}", folder,
                  util::bytes_text(static_cast<int64_t>(free_bytes(folder))), folder)};
}

}  // namespace mlrun::sweep
