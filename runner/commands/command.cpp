// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/command.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/commands/bench.h"
#include "runner/commands/clean.h"
#include "runner/commands/doctor.h"
#include "runner/commands/hand_over.h"
#include "runner/commands/monitor.h"
#include "runner/commands/pause.h"
#include "runner/commands/recover.h"
#include "runner/commands/run.h"
#include "runner/options/help_format.h"

namespace mlrun::commands {

namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"run", "[OPTIONS] COMMAND...", "record a command (the word may be left out)", run},
    {"report", "TRACE", "the summary of a trace again", report},
    {"show", "TRACE TABLE", "rows of a table, with names", show},
    {"list", "[DIR]", "the traces in a folder; --json for other programs", list},
    {"merge", "TRACE... -o NEW", "traces of several nodes as one, their clocks compared", merge},
    {"export", "TRACE --to FORMAT", "a trace for other tools: Perfetto, Chrome and others", export_trace},
    {"import", "FILE... -o TRACE", "a trace from what another tool has recorded", import},
    {"convert", "FILE -o DIR", "a trace of another tool as an OTF2 archive", convert},
    {"compare", "A B", "what differs between two sweeps, configurations or traces, with intervals", compare},
    {"sweep", "PLAN | list | stat ...", "configurations × workloads × repetitions, unattended", sweep},
    {"advise", "TRACE --fast NODE=SIZE", "which blocks should be in the fast memory, as rules for --place", advise},
    {"plot", "TRACE|SWEEP", "pictures for papers: svg, png, pdf", plot},
    {"mcp", "TRACE...", "traces for programs, by the Model Context Protocol", mcp},
    {"monitor", "", "GPUs and their processes, live; for Prometheus", monitor},
    {"pause", "DIR", "pause the recording of a run in progress", pause},
    {"resume", "DIR", "continue the recording of a paused run", resume},
    {"recover", "DIR", "finish the trace of a run whose mlrun was killed", recover},
    {"clean", "", "remove what killed runs left behind", clean},
    {"doctor", "", "what works on this machine, and what does not", doctor},
    {"bench", "", "what tracing costs on this machine, per call", bench},
});

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(const std::string& name) {
  const auto* found =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return name == c.name; });
  return found == kCommands.end() ? nullptr : found;
}

std::string general_help() {
  std::string text =
      "mlrun shows where a training's time goes, what it waited for and what to change.\n"
      "\n"
      "Usage: mlrun [OPTIONS] [--] COMMAND...\n"
      "       mlrun VERB ...\n"
      "\n"
      "Examples:\n"
      "  mlrun python train.py                  calls, allocations, marks, GPUs\n"
      "  mlrun --preload=files -o trace ./app   no allocations, no marks; into trace\n"
      "  mlrun --kprobes --pid 4711             a process that runs already (root)\n"
      "  mlrun report trace                     the summary again\n"
      "  mlrun -- list                          run a command called like a verb\n"
      "\n"
      "Verbs:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<26}   {}\n", fmt::format("{} {}", command.name, command.arguments), command.summary);
  }
  text += "\n`mlrun VERB --help` explains a verb, `mlrun run --help` the options of recording.\n";
  return fitted_footer(text, help_width());
}

}  // namespace mlrun::commands
