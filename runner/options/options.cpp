// SPDX-License-Identifier: Apache-2.0
#include "runner/options/options.h"

#include "runner/options/cli.h"

namespace mlrun {

Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments) {
  FolderOptions options;
  CLI::App app("Finishes the trace of a run whose mlrun was killed, or whose merge was put off.", "recover");
  set_usage(app, "mlrun recover [OPTIONS] DIR");
  app.footer(
      "Examples:\n"
      "  mlrun recover mlrun-train-1\n"
      "  mlrun recover --keep-raw mlrun-train-1   the raw events stay, for another merge\n"
      "\n"
      "Resumes an interrupted merge; tables already written are kept. Traces with GPU work are merged from scratch.");
  app.add_option("DIR", options.folder, "trace folder")->required();
  app.add_flag("--keep-raw", options.keep_raw, "keep the raw events beside the trace (default: off)");
  app.add_flag("--quiet", options.quiet, "no summary (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<FolderOptions>> parse_folder(const std::string& verb, const std::string& does,
                                                  const std::string& footer, const Arguments& arguments) {
  FolderOptions options;
  CLI::App app(does, verb);
  set_usage(app, "mlrun " + verb + " DIR");
  app.footer(footer);
  app.add_option("DIR", options.folder, "trace folder of a run in progress")->required();
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<CleanOptions>> parse_clean(const Arguments& arguments) {
  CleanOptions options;
  CLI::App app("Removes what killed runs left in shared memory.", "clean");
  set_usage(app, "mlrun clean [OPTIONS]");
  app.footer(
      "Examples:\n"
      "  mlrun clean --dry-run   what is there, and what would be removed\n"
      "  mlrun clean\n"
      "  mlrun clean --all       give up runs that `mlrun recover` could still finish");
  app.add_flag("--dry-run", options.dry_run, "only say what would be removed (default: off)");
  app.add_flag("--all", options.all, "also what `mlrun recover` could still use (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<BenchOptions>> parse_bench(const Arguments& arguments) {
  BenchOptions options;
  CLI::App app("Measures what tracing costs on this machine, per call, beside the untraced program.", "bench");
  set_usage(app, "mlrun bench [OPTIONS]");
  app.footer(
      "Examples:\n"
      "  mlrun bench\n"
      "  mlrun bench --seconds 20\n"
      "\n"
      "Summaries of later runs use the result to estimate what tracing cost.");
  app.add_option("--seconds", options.seconds, "how long; longer gives narrower intervals (default: 5)")
      ->check(between(0.1, 3600.0))
      ->option_text("N");
  app.add_flag("--json", options.json, "as JSON (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<DoctorOptions>> parse_doctor(const Arguments& arguments) {
  DoctorOptions options;
  CLI::App app("Shows what works on this machine, and what does not.", "doctor");
  set_usage(app, "mlrun doctor [OPTIONS]");
  app.footer(
      "Examples:\n"
      "  mlrun doctor\n"
      "  mlrun doctor --fix          the commands that let users other than root use --kprobes\n"
      "  mlrun doctor --fix --yes    run it");
  auto* fix =
      app.add_flag("--fix", options.fix, "print the commands that would make more work; runs nothing (default: off)");
  app.add_flag("--yes", options.yes, "with --fix: run them (default: off)")->needs(fix);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

}  // namespace mlrun
