// SPDX-License-Identifier: Apache-2.0
#include "runner/view/merge_verbs.h"

#include <cstdio>
#include <filesystem>

#include "runner/options/cli.h"
#include "runner/symbols/demangle.h"
#include "runner/trace/merge/merge.h"
#include "runner/util/log.h"
#include "runner/view/verbs.h"

namespace mlrun::view {

namespace {

Result<int> merge_and_show(const char* verb, const char* description, const Arguments& arguments, bool shows_summary) {
  trace::MergeOptions options;
  bool quiet = false;
  CLI::App app(description, verb);
  set_usage(app, std::string("mlrun-trace ") + verb + " [OPTIONS] TRACE");
  app.add_option("TRACE", options.trace_folder, "folder with spool.bin and session.json")->required();
  app.add_option("--threads", options.threads, "threads to work with (default: as many as there are processors)")
      ->check(CLI::Range(1, 64));
  app.add_flag("--quiet", quiet, "print nothing but errors (default: off)");
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  options.shows_progress = !quiet;
  if (std::filesystem::exists(options.trace_folder + "/session.json")) util::begin_log(options.trace_folder);
  util::note("the merge begins");
  symbols::prepare_demangling();
  if (auto merged = trace::merge(options); !merged) return tl::make_unexpected(merged.error());
  util::note("the trace is made");
  if (quiet || !shows_summary) return 0;
  const auto text = summary_at_end(options.trace_folder, stderr);
  if (!text) return tl::make_unexpected(text.error());
  std::fwrite(text->data(), 1, text->size(), stderr);  // write errors are ignored: the trace is complete
  return 0;
}

}  // namespace

Result<int> run_merge(const Arguments& arguments) {
  return merge_and_show("merge", "Makes the trace of a recorded run.", arguments, false);
}

Result<int> run_finish(const Arguments& arguments) {
  return merge_and_show("finish", "Makes the trace of a recorded run and prints its summary.", arguments, true);
}

}  // namespace mlrun::view
