// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/pause.h"

#include <ctime>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "runner/collect/mapped_arena.h"
#include "runner/collect/shared_word.h"
#include "runner/commands/session_facts.h"
#include "runner/model/run.h"
#include "runner/session/session_file.h"
#include "runner/util/clock.h"

namespace mlrun::commands {

namespace {

Result<collect::Arena> open_running_arena(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return fail(folder + (std::filesystem::exists(folder, error) ? " is no folder" : " does not exist") +
                "; give the trace folder of a run in progress");
  }
  const auto session = session::SessionFile::read(folder);
  if (!session) {
    const bool finished = std::filesystem::exists(folder + "/run.json", error);
    return fail(folder + (finished ? ": the run has ended, its trace is complete" : " is no trace folder of a run"));
  }
  if (!session->leader_lives())
    return fail(fmt::format("{}: no mlrun is recording any more; mlrun recover {} makes the trace", folder, folder));
  return collect::Arena::open(arena_path(folder, model::run_of(session->data)));
}

// Waits until the collector has made a complete pass and so seen this state, before the next one can replace it. False: the collector
// makes no progress.
bool until_it_is_noted(mlrun_control& control) {
  constexpr int kTries = 5000;
  const uint32_t before = collect::load(control.heartbeat);
  for (int tries = 0; tries < kTries; tries++) {
    collect::add(control.wake, 1u);
    collect::futex_wake_all(control.wake);
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    if (collect::load(control.heartbeat) - before >= 2) return true;
  }
  return false;
}

// Changes the state from `from` to `to` and stores the time: the program is not recorded between pause and resume.
Result<int> change_state(const std::string& folder, mlrun_state from, mlrun_state to) {
  const auto arena = open_running_arena(folder);
  if (!arena) return tl::make_unexpected(arena.error());
  mlrun_control& control = arena->control();
  uint32_t expected = from;
  if (to == MLRUN_RUN) collect::store(control.resumed_ns, __u64{util::monotonic_ns()});
  const bool changed =
      __atomic_compare_exchange_n(&control.state, &expected, uint32_t{to}, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (!changed && expected != to) return fail(fmt::format("the run in {} has stopped recording", folder));
  if (changed && to == MLRUN_PAUSE) collect::store(control.paused_ns, __u64{util::monotonic_ns()});
  if (!until_it_is_noted(control))
    return fail(fmt::format("mlrun, which records in {}, does not answer: it has ended or is stopped", folder));
  return 0;
}

constexpr const char* kFooter =
    "Examples, from another terminal than that of the run:\n"
    "  mlrun pause mlrun-train-1     from now on the program is not recorded\n"
    "  mlrun resume mlrun-train-1    from now on it is recorded again\n"
    "\n"
    "The program keeps running meanwhile. The trace has the times of each pause.\n"
    "In a pause there are no calls, allocations, marks, GPU work, accesses to\n"
    "memory (--access) and Python stacks. Counters (--sample) and what the kernel\n"
    "side records (--kprobes) go on.";

}  // namespace

Result<int> pause(const Arguments& arguments) {
  const auto options =
      parse_folder("pause", "Stops recording in a run in progress, until `mlrun resume`.", kFooter, arguments);
  if (!options) return tl::make_unexpected(options.error());
  return *options ? change_state((*options)->folder, MLRUN_RUN, MLRUN_PAUSE) : 0;
}

Result<int> resume(const Arguments& arguments) {
  const auto options = parse_folder("resume", "Records again in a run that was paused.", kFooter, arguments);
  if (!options) return tl::make_unexpected(options.error());
  return *options ? change_state((*options)->folder, MLRUN_PAUSE, MLRUN_RUN) : 0;
}

}  // namespace mlrun::commands
