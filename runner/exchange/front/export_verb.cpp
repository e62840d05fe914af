// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/front/export_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/exchange/export.h"
#include "runner/exchange/format.h"
#include "runner/options/cli.h"
#include "runner/util/program.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

std::string footer() {
  std::string text = "Formats:\n";
  for (const Format& format : all_formats()) text += fmt::format("  {:<14}  {}\n", format.name, format.summary);
  text += "\nA row that is partly between --from and --until is written whole.\n\nExamples:\n";
  for (const Format& format : all_formats()) {
    text += fmt::format("  mlrun export mlrun-train-1 --to {} -o {}\n", format.name, format.usual_name);
  }
  text += "  mlrun export mlrun-train-1 --to perfetto -o part.pftrace --from 10s --until 20s --process 4711\n";
  return text;
}

// Writes the output, and gives it the name that was asked for once it is complete. After an error no output exists.
Status write_output(const Format& format, Export& job) {
  Status done = format.write(job);
  if (done) done = job.commit();
  if (!done) return tl::make_unexpected(job.with_asked_name(done.error()));
  return {};
}

Result<const Format*> format_of(const std::string& name) {
  if (const Format* format = find_format(name)) return format;
  std::vector<std::string> known;
  for (const Format& format : all_formats()) known.emplace_back(format.name);
  return fail(fmt::format("--to {}: no such format; the formats are {}", name, fmt::join(known, ", ")));
}

}  // namespace

Result<int> export_verb(const std::vector<std::string>& arguments) {
  ExportOptions options;
  std::string name, split;
  CLI::App app("Writes a trace in a format that other tools read.", "export");
  set_usage(app, "mlrun export [OPTIONS] TRACE --to FORMAT -o FILE");
  app.footer(footer());
  app.add_option("TRACE", options.trace_folder, "folder of the trace")->required();
  app.add_option("--to", name, "one of the formats below")->option_text("FORMAT")->required();
  app.add_option("-o,--output", options.output, "the file or folder to make; it must not exist")
      ->option_text("FILE")
      ->required();
  app.add_option("--from", options.from,
                 "leave out rows that end before this time after the start of the command: 2.5s, 300ms "
                 "(default: from the start)")
      ->option_text("TIME");
  app.add_option("--until", options.until, "only rows that begin before this time (default: to the end)")
      ->option_text("TIME");
  app.add_option("--process", options.processes, "only rows of these processes (default: all)")
      ->option_text("PID,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--split", split,
                 "perfetto, chrome: begin a new file after this size, so that FILE becomes a folder: 100M "
                 "(default: when a viewer could not hold a larger file)")
      ->option_text("SIZE");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  const auto format = format_of(name);
  if (!format) return tl::make_unexpected(format.error());
  if (!split.empty()) {
    const auto size = util::parse_size(split);
    if (!size || *size == 0) return fail(fmt::format("--split {}: not a size; write it like 100M", split));
    if (!(*format)->can_split) return fail(fmt::format("--split is for perfetto and chrome, not for {}", name));
    options.split_bytes = *size;
  }
  const std::string output = options.output;
  auto job = Export::open(std::move(options));
  if (!job) return tl::make_unexpected(job.error());
  if (auto written = write_output(**format, **job); !written) return tl::make_unexpected(written.error());
  const Account& account = (*job)->account();
  fmt::print("{}: {} rows as {} events\n{}", util::printable(output), account.rows_written(), account.events_written(),
             account.text());
  if (const Status takes = util::check_output(); !takes) return tl::make_unexpected(takes.error());
  return 0;
}

}  // namespace mlrun::exchange
