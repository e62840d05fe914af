// SPDX-License-Identifier: Apache-2.0
#include "runner/options.h"

#include <array>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "runner/cli.h"
#include "runner/events/alloc_class.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kSmallestBuffer = 4 << 20;
constexpr uint64_t kLargestBuffer = uint64_t{4} << 30;
constexpr uint64_t kSmallestSpool = 4 << 20;

// Streams that the command line knows and this build does not have.
constexpr std::array<std::pair<const char*, const char*>, 4> kAbsentStreams = {{
    {"kprobes", "the kernel side"},
    {"cupti", "the GPU side"},
    {"sample", "samplers"},
    {"access", "access sampling"},
}};

// The texts as CLI11 collects them; turned into RunOptions when all are there.
struct RunTexts {
  std::string preload;
  std::optional<std::string> alloc_min, buffer, max_spool;
  std::array<std::string, kAbsentStreams.size()> absent;
};

Status read_preload(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  options.preload = Wish::kOn;
  bool files = false, allocs = false;
  for (const std::string_view word : util::split(text, ",")) {
    if (word == "files")
      files = true;
    else if (word == "allocs")
      allocs = true;
    else if (word == "all")
      files = allocs = true;
    else if (word == "off")
      options.preload = Wish::kOff;
    else if (word == "auto")
      options.preload = Wish::kAuto;
    else if (word == "require")
      options.preload = Wish::kRequire;
    else
      return fail(fmt::format("--preload={}: '{}' is none of files, allocs, off, auto, require", text, word));
  }
  if (files || allocs) {
    options.files = files;
    options.allocs = allocs;
  }
  return {};
}

Status check_absent(const std::string& name, const std::string& what, const std::string& text) {
  if (text.empty() || text == "off" || text == "auto") return {};
  return fail(fmt::format("--{}: this build of mlrun does not have {}; leave the option out", name, what));
}

Status read_size(const char* option, const std::optional<std::string>& text, uint64_t low, uint64_t high,
                 const std::function<void(uint64_t)>& set) {
  if (!text) return {};
  const auto size = util::parse_size(*text);
  if (!size) return fail(fmt::format("{}: {}", option, size.error().text));
  if (*size < low || *size > high) {
    return fail(
        fmt::format("{} {}: it must be from {} to {}", option, *text, util::size_text(low), util::size_text(high)));
  }
  set(*size);
  return {};
}

Status read_sizes(const RunTexts& texts, RunOptions& options) {
  Status status = read_size("--alloc-min", texts.alloc_min, 0, MLRUN_ALLOC_MIN_LIMIT,
                            [&](uint64_t size) { options.alloc_min_bytes = size; });
  if (!status) return status;
  status = read_size("--buffer", texts.buffer, kSmallestBuffer, kLargestBuffer,
                     [&](uint64_t size) { options.buffer_bytes = size; });
  if (!status) return status;
  return read_size("--max-spool", texts.max_spool, kSmallestSpool, uint64_t{1} << 60,
                   [&](uint64_t size) { options.max_spool_bytes = size; });
}

// What stands behind mlrun's own options. A word that looks like an option was none of ours.
Status take_command(std::vector<std::string> rest, RunOptions& options) {
  const bool marked = !rest.empty() && rest.front() == "--";
  if (marked) rest.erase(rest.begin());
  if (rest.empty()) return fail("no command to run; see mlrun --help");
  if (!marked && rest.front().starts_with('-')) {
    return fail(fmt::format("{}: no such option; see mlrun run --help", rest.front()));
  }
  options.command = std::move(rest);
  return {};
}

void add_recording_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "What is recorded (with no stream named: all that work here)";
  app.add_flag("--preload{all}", texts.preload,
               "calls of the C library; =files or =allocs: only those; =auto, =require, =off")
      ->option_text("[=WHAT]")
      ->group(group);
  for (size_t i = 0; i < kAbsentStreams.size(); i++) {
    app.add_flag(fmt::format("--{}{{on}}", kAbsentStreams[i].first), texts.absent[i])->group("");
  }
  app.add_option("--alloc-min", texts.alloc_min, "list allocations of this size and more, count the others (1024)")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--mllog", options.mllog, "a file that the command writes MLLOG lines to; may be given again")
      ->expected(1)
      ->allow_extra_args(false)  // else the command's words would be taken for more files
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("FILE")
      ->group(group);
}

void add_place_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "Where it goes";
  app.add_option("-o,--output", options.output, "trace folder, a new one (mlrun-NAME-N)")
      ->option_text("DIR")
      ->group(group);
  app.add_option("--buffer", texts.buffer, "memory between the command and mlrun (256M)")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--max-spool", texts.max_spool, "stop recording at this size (half of the free space, at most 64G)")
      ->option_text("SIZE")
      ->group(group);
  app.add_flag("--lossless", options.lossless, "with the buffer full, let the command wait rather than drop records")
      ->group(group);
}

void add_end_options(CLI::App& app, RunOptions& options) {
  const std::string group = "How it ends";
  app.add_flag("--wait-all", options.wait_all, "record until all descendants have ended, not only the command")
      ->group(group);
  app.add_flag("--defer-merge", options.defer_merge, "make no trace now; `mlrun recover` does it later")->group(group);
  app.add_flag("--keep-raw", options.keep_raw, "keep the raw events beside the trace")->group(group);
  app.add_flag("--quiet", options.quiet, "no summary")->group(group);
  app.add_flag("--verbose", options.verbose, "say more about the recording")->group(group);
}

}  // namespace

Result<std::optional<RunOptions>> parse_run(const Arguments& arguments) {
  RunOptions options;
  RunTexts texts;
  CLI::App app("Runs a command and records what it does.", "run");
  set_usage(app, "mlrun [run] [OPTIONS] [--] COMMAND...");
  app.prefix_command();
  app.footer("COMMAND and its arguments follow; `--` may stand between. A SIZE takes K, M or G.");
  add_recording_options(app, texts, options);
  add_place_options(app, texts, options);
  add_end_options(app, options);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<RunOptions>();
  Status status = take_command(app.remaining(), options);
  if (status) status = read_preload(texts.preload, options);
  for (size_t i = 0; status && i < kAbsentStreams.size(); i++) {
    status = check_absent(kAbsentStreams[i].first, kAbsentStreams[i].second, texts.absent[i]);
  }
  if (status) status = read_sizes(texts, options);
  if (!status) return tl::make_unexpected(status.error());
  if (options.preload == Wish::kOff)
    return fail("--preload=off leaves nothing to record; run the command without mlrun");
  for (std::string& path : options.mllog) path = std::filesystem::absolute(path).lexically_normal().string();
  return options;
}

Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments) {
  FolderOptions options;
  CLI::App app("Finishes the trace of a run whose mlrun was killed, or whose merge was put off.", "recover");
  set_usage(app, "mlrun recover [OPTIONS] DIR");
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

Result<bool> parse_nothing(const std::string& verb, const std::string& does, const Arguments& arguments) {
  CLI::App app(does, verb);
  set_usage(app, "mlrun " + verb);
  return parse(app, arguments);
}

}  // namespace mlrun
