// SPDX-License-Identifier: Apache-2.0
#include "runner/options.h"

#include "runner/cli.h"

namespace mlrun {

Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments) {
  FolderOptions options;
  CLI::App app("Finishes the trace of a run whose mlrun was killed, or whose merge was put off.", "recover");
  set_usage(app, "mlrun recover [OPTIONS] DIR");
  app.footer(
      "A merge that was killed is gone on with: what it had written of the event tables is not written again. With GPU "
      "work "
      "it begins anew.");
  app.add_option("DIR", options.folder, "trace folder")->required();
  app.add_flag("--keep-raw", options.keep_raw, "keep the spool beside the trace");
  app.add_flag("--quiet", options.quiet, "no summary");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<FolderOptions>> parse_folder(const std::string& verb, const std::string& does,
                                                  const Arguments& arguments) {
  FolderOptions options;
  CLI::App app(does, verb);
  set_usage(app, "mlrun " + verb + " DIR");
  app.add_option("DIR", options.folder, "trace folder of a run that goes on")->required();
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<CleanOptions>> parse_clean(const Arguments& arguments) {
  CleanOptions options;
  CLI::App app("Removes what killed runs left in shared memory.", "clean");
  set_usage(app, "mlrun clean [OPTIONS]");
  app.add_flag("--dry-run", options.dry_run, "only say what would be removed");
  app.add_flag("--all", options.all, "also what `mlrun recover` could still use");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

Result<std::optional<BenchOptions>> parse_bench(const Arguments& arguments) {
  BenchOptions options;
  CLI::App app("Measures what tracing costs on this machine, per call, beside the untraced program.", "bench");
  set_usage(app, "mlrun bench [OPTIONS]");
  app.footer(
      "Example: mlrun bench --seconds 20\n"
      "The summaries of later runs estimate by it what tracing cost them.");
  app.add_option("--seconds", options.seconds, "how long (5); longer gives narrower intervals")
      ->check(between(0.1, 3600.0))
      ->option_text("N");
  app.add_flag("--json", options.json, "for machines");
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
      "  mlrun doctor --fix          what to run so that users other than root can use --kprobes\n"
      "  mlrun doctor --fix --yes    run it");
  auto* fix = app.add_flag("--fix", options.fix, "print the commands that would make more work; runs nothing");
  app.add_flag("--yes", options.yes, "with --fix: run them")->needs(fix);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return *parsed ? std::optional(options) : std::nullopt;
}

}  // namespace mlrun
