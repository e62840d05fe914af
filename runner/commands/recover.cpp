// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/recover.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "runner/collect/recording.h"
#include "runner/collect/recovery.h"
#include "runner/commands/placement_side.h"
#include "runner/commands/session_facts.h"
#include "runner/launch/merge_process.h"
#include "runner/launch/own_limits.h"
#include "runner/model/run.h"
#include "runner/session/installation.h"
#include "runner/session/session_file.h"
#include "runner/util/log.h"

namespace mlrun::commands {

namespace {

// Completes the spool. If the collector did not reach the end of the run, the time without a collector becomes a gap.
Status complete(const std::string& folder, session::SessionFile& session) {
  collect::RecoveryOptions options;
  options.trace_folder = folder;
  const model::Run run = model::run_of(session.data);
  options.arena_path = arena_path(folder, run);
  options.session = run.session;
  options.same_boot = session.same_boot();
  options.outage = run.state == "running";
  const auto recovery = collect::Recovery::open(options);
  if (!recovery) return tl::make_unexpected(recovery.error());
  if (Status completed = (*recovery)->complete(); !completed) return completed;
  if ((*recovery)->collector() != nullptr) {
    describe_collection(session.data, *(*recovery)->collector(), (*recovery)->spool(), *(*recovery)->control());
    describe_recovered(session.data, *(*recovery)->placement());
  }
  session.data["recovered"] = true;
  session.data["state"] = "collected";
  return session.write();
}

}  // namespace

Result<int> recover(const Arguments& arguments) {
  const auto parsed = parse_recover(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const launch::OwnLimits limits;  // the merge gets the raised limits
  std::error_code error;
  const std::string folder = std::filesystem::canonical((*parsed)->folder, error).string();
  if (error) return fail(fmt::format("cannot find {}: {}", (*parsed)->folder, error.message()));
  auto session = session::SessionFile::read(folder);
  const bool finished = std::filesystem::exists(folder + "/run.json");
  if (finished && !(session && std::filesystem::exists(collect::spool_path(folder)))) {
    if (session) session->remove();  // mlrun was killed after it had removed the spool
    util::say(folder + " is complete: nothing to recover");
    return 0;
  }
  if (!session) return fail(fmt::format("{} is no trace folder of mlrun: {}", folder, session.error().text));
  if (session->leader_lives()) {
    return fail(
        fmt::format("mlrun still records or merges in {} (process {}): wait for it", folder, session->leader_pid()));
  }
  util::begin_log(folder);
  const model::Run run = model::run_of(session->data);
  if (run.state != "collected") {
    if (const Status completed = complete(folder, *session); !completed) return tl::make_unexpected(completed.error());
  }
  const bool keep_raw = (*parsed)->keep_raw || run.options.keep_raw;
  const Status merged = launch::merge({session::find_installation().trace_program, folder, (*parsed)->quiet, keep_raw});
  if (!merged) return tl::make_unexpected(merged.error());
  return 0;
}

}  // namespace mlrun::commands
