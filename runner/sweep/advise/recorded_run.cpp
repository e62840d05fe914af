// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/recorded_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/model/run.h"
#include "runner/util/access_rungs.h"
#include "runner/util/json_at.h"

namespace mlrun::sweep {

namespace {

bool is_empty_input(const std::string& path) {
  return path == "/dev/null" || path == "/dev/console" || path.starts_with("/dev/tty") || path.starts_with("/dev/pts/");
}

// Empty: the command succeeded.
std::string failure_of(const model::Run& run) {
  if (run.recovered) return "mlrun was killed before its end";
  const int64_t status = run.exit_status.value_or(0);
  return status == 0 ? std::string() : fmt::format("exit status {}", status);
}

RecordedCommand recorded_command(const model::Run& run) {
  RecordedCommand command{run.command,    run.cwd, {}, run.placement.cpus, run.placement.policy, run.placement.mem_node,
                          failure_of(run)};
  for (const model::OpenFile& file : run.standard_files) {
    if (file.fd == 0 && !is_empty_input(file.path)) command.input = file.path;
  }
  return command;
}

bool was_paused(const model::Run& run) {
  const nlohmann::json& losses = util::list_at(*run.document, "/losses");
  return std::any_of(losses.begin(), losses.end(),
                     [](const nlohmann::json& loss) { return util::text_at(loss, "/reason") == "paused"; });
}

// What the trace lacks, and what to do; empty: nothing.
std::string lacking(const model::Run& run) {
  if (run.is_merged)
    return " is merged from several nodes, and advice is for one machine; name the trace of a node, which the table "
           "node lists";
  if (run.command.empty()) return " has no command, which advise needs to run again; name the trace of mlrun COMMAND";
  if (run.options.summary_only)
    return " has only sums of its blocks, so what is alive at each moment is unknown; record it without --summary-only";
  if (run.options.alloc_sample_bytes > 0)
    return " lists only a sample of its blocks, so what is alive at each moment is unknown; record it without "
           "--alloc-sample";
  if (run.events_from_ns)
    return " has only the last part of its run, so what is alive at each moment is unknown; record it without --last";
  if (was_paused(run))
    return " was paused (mlrun pause): which blocks were freed meanwhile, and so what is alive at each moment, is "
           "unknown; "
           "record it without a pause";
  return {};
}

}  // namespace

Result<RecordedRun> read_recorded_run(const std::string& trace) {
  const auto run = model::read_run(trace);
  if (!run) return fail(fmt::format("{} is no trace: {}", trace, run.error().text));
  if (const std::string lacks = lacking(*run); !lacks.empty()) return fail(trace + lacks);
  RecordedRun recorded;
  recorded.command = recorded_command(*run);
  recorded.end_ns = run->end_ns.value_or(0);
  recorded.min_bytes = static_cast<uint64_t>(std::max<int64_t>(run->options.alloc_min_bytes, 0));
  for (const model::MemoryAccess::Found& found : run->access.by_rung) {
    if (found.rows > 0 && util::records_events(util::access_rung_of(found.rung)))
      recorded.outside[found.rung] =
          static_cast<double>(found.rows - found.joined_rows) / static_cast<double>(found.rows);
  }
  recorded.has_losses = run->total("losses").value_or(0) > 0;
  return recorded;
}

std::string missing_text(const RecordedRun& recorded) {
  std::string text;
  if (recorded.has_losses)
    text +=
        "records of this trace were lost (table loss): blocks may be missing, or seem to live longer than they did\n";
  if (!recorded.command.failure.empty())
    text += fmt::format("the recorded command failed ({}): this is for what it allocated until then\n",
                        recorded.command.failure);
  return text;
}

}  // namespace mlrun::sweep
