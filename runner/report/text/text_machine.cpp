// SPDX-License-Identifier: Apache-2.0
// What the machine did, from the samples of its counters.
#include <string>

#include <fmt/format.h>

#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::report {
namespace {

std::string machine_name(const summary::MachineUse& use) {
  if (use.what == "cpu") return fmt::format("{} processors", use.processors);
  if (use.what == "memory") return use.name.empty() ? "memory" : "memory of " + use.name;
  return printable(use.name);
}

}  // namespace

std::string machine_text(const Summary& summary, const TextStyle& style) {
  if (summary.machine.empty()) return "";
  TextTable table({"MACHINE (sampled)", "busy", "iowait", "steal", "in", "out", "in, mean", "out, mean", "peak", "of"});
  for (const summary::MachineUse& use : summary.machine) {
    table.add({machine_name(use), util::percent_text(use.busy_ns, use.observed_ns),
               util::percent_text(use.iowait_ns, use.observed_ns), util::percent_text(use.steal_ns, use.observed_ns),
               util::bytes_text(use.in_bytes), util::bytes_text(use.out_bytes),
               util::rate_text(use.in_bytes, use.observed_ns), util::rate_text(use.out_bytes, use.observed_ns),
               util::bytes_text(use.peak_bytes), util::bytes_text(use.total_bytes)});
  }
  return table.text(style);
}

}  // namespace mlrun::report
