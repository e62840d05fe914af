// SPDX-License-Identifier: Apache-2.0
// Where Python spent its time, from samples of its stacks.
#include <string>

#include <fmt/format.h>

#include "runner/model/stack_table.h"
#include "runner/report/text/text.h"
#include "runner/report/text/text_table.h"

namespace mlrun::summary {

std::string python_text(const Summary& summary, const TextStyle& style) {
  constexpr size_t kShown = 6;
  if (summary.python.empty()) return "";
  int64_t running = 0, running_ns = 0;
  for (const PythonSummary& line : summary.python) {
    util::add_to(running, line.running);
    util::add_to(running_ns, line.running_ns);
  }
  TextTable table({"WHERE PYTHON WAS", "role", "looks", "running", "of it"});
  for (size_t i = 0; i < summary.python.size() && i < kShown; ++i) {
    const PythonSummary& line = summary.python[i];
    model::FrameRow frame;
    frame.function = line.function;
    frame.source = line.source;
    frame.line = line.line;
    table.add({line.source.empty() && line.function.empty() ? "other lines" : printable(model::python_line(frame)),
               line.role.empty() ? "process" : printable(line.role), count_text(line.looks), count_text(line.running),
               running_ns == 0 ? percent_text(line.running, running) : percent_text(line.running_ns, running_ns)});
  }
  if (summary.python.size() > kShown) {
    table.add_note(fmt::format("{} {} more: mlrun show TRACE summary_python", style.glyphs.pick("…", "..."),
                               summary.python.size() - kShown));
  }
  return table.text(style);
}

}  // namespace mlrun::summary
