// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/answer.h"

#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "runner/findings/findings.h"
#include "runner/findings/machine.h"
#include "runner/util/units.h"

namespace mlrun::findings {

namespace {

Result<std::unique_ptr<blame::Analysis>> analyse(const std::string& folder, const model::Run& run,
                                                 const AnswerOptions& options) {
  blame::Options of{folder, options.start_ns, options.end_ns, options.driver_tid};
  if (of.end_ns == 0 && run.begin_ns() && run.duration_ns()) {
    of.start_ns = *run.begin_ns();
    of.end_ns = of.start_ns + *run.duration_ns();
  }
  return blame::analyse(of);
}

}  // namespace

Status answer(const std::string& folder, const model::Run& run, const AnswerOptions& options, summary::Answer& out) {
  if (!options.has_rows) return options.writes_tables ? write_no_blame(folder) : Status();
  auto analysis = analyse(folder, run, options);
  if (!analysis) return tl::make_unexpected(analysis.error());
  if ((*analysis)->answer.wall_ns <= 0) return options.writes_tables ? write_no_blame(folder) : Status();
  const auto machine = read_machine(folder, run);
  if (!machine) return tl::make_unexpected(machine.error());
  const Context context = find(**analysis, folder, *machine);
  if (options.writes_tables) {
    if (Status written = write_blame(context, folder); !written) return written;
  }
  out = std::move((*analysis)->answer);
  return {};
}

Result<Replayed> what_if(const std::string& folder, const model::Run& run, int32_t driver_tid, const WhatIf& change) {
  auto analysis = analyse(folder, run, {driver_tid});
  if (!analysis) return tl::make_unexpected(analysis.error());
  const auto machine = read_machine(folder, run);
  if (!machine) return tl::make_unexpected(machine.error());
  if ((*analysis)->division.driver == 0 && driver_tid != 0) {
    return fail(fmt::format("--driver {}: no recorded thread has this TID; list them with mlrun show {} thread",
                            driver_tid, folder));
  }
  if ((*analysis)->division.driver == 0)
    return fail("--what-if: no thread of this trace was found to drive a training; name one with --driver TID");
  const Replay replay(**analysis, machine->usable());
  if (replay.empty()) {
    return fail("--what-if: the trace has no batches of a DataLoader with workers; other loaders cannot be replayed");
  }
  if (change.workers != 0 && make_context(**analysis, folder, *machine).held_lock) {
    return fail(
        "--what-if workers=: the workers wait for each other at a lock, and a replay cannot predict when that lock is "
        "free");
  }
  const Replayed replayed = replay.run(change);
  if (std::abs(replayed.error()) > kReplayError) {
    return fail(fmt::format(
        "--what-if: a replay of the unchanged run takes {}, but the run took {}: too far off to predict a change",
        util::time_text(replayed.replayed_ns, {}), util::time_text(replayed.measured_ns, {})));
  }
  return replayed;
}

}  // namespace mlrun::findings
