// SPDX-License-Identifier: Apache-2.0
#include "runner/options.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "runner/cli.h"
#include "runner/events/alloc_class.h"
#include "runner/events/record.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kSmallestBuffer = 4 << 20;
constexpr uint64_t kLargestBuffer = uint64_t{4} << 30;
constexpr uint64_t kSmallestSpool = 4 << 20;

// Streams that the command line knows and this build does not have.
constexpr std::array<std::pair<const char*, const char*>, 1> kAbsentStreams = {{
    {"access", "access sampling"},
}};

constexpr const char* kRunFooter =
    "COMMAND and its arguments follow; `--` may stand between. A SIZE takes K, M or G, a TIME us, ms, s, min or h.\n"
    "A GLOB is for names in any folder (*.npy), or with a slash for paths (/data/**/x?.npy, out/); * stops at a\n"
    "slash, ** does not, and a folder stands for all that is in it. --exclude wins.\n"
    "\n"
    "Examples:\n"
    "  mlrun --preload --include /data --exclude '*.json' python train.py\n"
    "  mlrun --preload --fold 10us python train.py\n"
    "  mlrun --preload --stacks=16 --alloc-min 64K python train.py   which functions allocate and read most\n"
    "  mlrun --preload --alloc-sample 512K python train.py\n"
    "  mlrun --cupti python train.py   kernels and copies of NVIDIA GPUs as well\n"
    "  mlrun --preload --last 10min --max-spool 8G python train.py\n"
    "  mlrun --preload --summary-only --mllog train.log python train.py   a week in a few megabytes";

// The texts as CLI11 collects them; turned into RunOptions when all are there.
struct RunTexts {
  std::string preload, kprobes, sample, cupti;
  std::optional<std::string> alloc_min, buffer, max_spool, last, alloc_sample, fold;
  std::string stacks;
  std::array<std::string, kAbsentStreams.size()> absent;
};

Status read_preload(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  options.preload = Wish::kOn;
  bool files = false, allocs = false, marks = false;
  for (const std::string_view word : util::split(text, ",")) {
    if (word == "files")
      files = true;
    else if (word == "allocs")
      allocs = true;
    else if (word == "marks")
      marks = true;
    else if (word == "all")
      files = allocs = marks = true;
    else if (word == "off")
      options.preload = Wish::kOff;
    else if (word == "auto")
      options.preload = Wish::kAuto;
    else if (word == "require")
      options.preload = Wish::kRequire;
    else
      return fail(fmt::format("--preload={}: '{}' is none of files, allocs, marks, off, auto, require", text, word));
  }
  if (files || allocs || marks) {
    options.files = files;
    options.allocs = allocs;
    options.marks = marks;
  }
  return {};
}

Status read_stacks(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  uint32_t depth = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, depth);
  if (error != std::errc() || read != end || depth < 1 || depth > MLRUN_STACK_DEPTH_MAX) {
    return fail(fmt::format("--stacks={}: the depth must be a number from 1 to {}", text, +MLRUN_STACK_DEPTH_MAX));
  }
  options.stack_depth = depth;
  return {};
}

Status read_kprobes(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  options.kprobes = Wish::kOn;
  bool block = false, wait = false, vfs = false, syscalls = false;
  for (const std::string_view word : util::split(text, ",")) {
    if (word == "block")
      block = true;
    else if (word == "wait")
      block = wait = true;
    else if (word == "vfs")
      block = vfs = true;
    else if (word == "all")
      block = wait = vfs = true;
    else if (word == "off")
      options.kprobes = Wish::kOff;
    else if (word == "auto")
      options.kprobes = Wish::kAuto;
    else if (word == "require")
      options.kprobes = Wish::kRequire;
    else if (word == "syscalls")
      block = syscalls = true;
    else
      return fail(
          fmt::format("--kprobes={}: '{}' is none of block, wait, vfs, syscalls, all, off, auto, require", text, word));
  }
  if (block) options.kprobes_wait = wait;
  if (block) options.kprobes_vfs = vfs;
  options.kprobes_syscalls = syscalls;
  return {};
}

Status read_sample(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  options.sample = Wish::kOn;
  for (const std::string_view word : util::split(text, ",")) {
    if (word == "off")
      options.sample = Wish::kOff;
    else if (word == "auto")
      options.sample = Wish::kAuto;
    else if (word == "require")
      options.sample = Wish::kRequire;
    else if (word == "cpu" || word == "disk" || word == "process" || word == "memory")
      return fail(fmt::format("--sample={}: this build of mlrun samples GPUs alone; leave '{}' out", text, word));
    else if (word != "gpu" && word != "all")
      return fail(fmt::format("--sample={}: '{}' is none of gpu, off, auto, require", text, word));
  }
  return {};
}

Status read_cupti(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  if (text == "on")
    options.cupti = Wish::kOn;
  else if (text == "off")
    options.cupti = Wish::kOff;
  else if (text == "auto")
    options.cupti = Wish::kAuto;
  else if (text == "require")
    options.cupti = Wish::kRequire;
  else
    return fail(fmt::format("--cupti={}: '{}' is none of off, auto, require", text, text));
  return {};
}

// A stream that is named turns off those that are not; stacks and the kernel side are about calls.
void settle_streams(const RunTexts& texts, RunOptions& options) {
  if (texts.sample.empty() && !texts.preload.empty()) options.sample = Wish::kOff;
  const bool sample_alone = options.sample == Wish::kOn || options.sample == Wish::kRequire;
  if (texts.preload.empty() && texts.stacks.empty() && texts.kprobes.empty() && sample_alone) {
    options.preload = Wish::kOff;
  }
  if (options.summary_only) options.marks = false;  // each mark would be an event of its own
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
  status = read_size("--alloc-sample", texts.alloc_sample, 2, uint64_t{1} << 40, [&](uint64_t size) {
    options.alloc_sample_bytes = size;
    if (!texts.alloc_min) options.alloc_min_bytes = 0;
  });
  if (!status) return status;
  if (texts.alloc_sample && !options.allocs) return fail("--alloc-sample: --preload=files records no allocations");
  status = read_size("--buffer", texts.buffer, kSmallestBuffer, kLargestBuffer,
                     [&](uint64_t size) { options.buffer_bytes = size; });
  if (!status) return status;
  return read_size("--max-spool", texts.max_spool, kSmallestSpool, uint64_t{1} << 60,
                   [&](uint64_t size) { options.max_spool_bytes = size; });
}

Status read_time(const char* option, const std::optional<std::string>& text, uint64_t& ns) {
  if (!text) return {};
  const auto time = util::parse_time(*text);
  if (!time) return fail(fmt::format("{}: {}", option, time.error().text));
  if (*time == 0) return fail(fmt::format("{} {}: it must be more than nothing", option, *text));
  ns = *time;
  return {};
}

Status read_path_rules(RunOptions& options) {
  if (options.path_rules.empty()) return {};
  if (!options.files) return fail("--include and --exclude choose among files: --preload=allocs records no file calls");
  std::error_code ignored;
  auto bytes = launch::encoded_path_rules(options.path_rules, std::filesystem::current_path(ignored).string());
  if (!bytes) return tl::make_unexpected(bytes.error());
  options.path_rules_bytes = *std::move(bytes);
  return {};
}

// Where nothing is listed there is nothing to choose, to keep or to fold.
Status check_summary_only(const RunTexts& texts, const RunOptions& options) {
  if (!options.summary_only) return {};
  const std::pair<bool, const char*> others[] = {
      {texts.last.has_value(), "--last"},
      {texts.fold.has_value(), "--fold"},
      {texts.alloc_sample.has_value(), "--alloc-sample"},
      {options.cupti == Wish::kOn || options.cupti == Wish::kRequire, "--cupti"},
      {options.kprobes != Wish::kOff, "--kprobes"}};
  for (const auto& [given, name] : others) {
    if (given) {
      return fail(
          fmt::format("--summary-only lists no events, and {} is about events that are listed: leave one out", name));
    }
  }
  return {};
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

// An option that may be given again, each time with one text.
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& texts, const char* does) {
  return app.add_option(name, texts, does)
      ->expected(1)
      ->allow_extra_args(false)  // else the command's words would be taken for more of them
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_recording_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "What is recorded (with no stream named: all that work here)";
  app.add_flag(
         "--preload{all}", texts.preload,
         "calls of the C library and marks; =files (with waits), =allocs, =marks: only those; =auto, =require, =off")
      ->option_text("[=WHAT]")
      ->group(group);
  app.add_flag("--kprobes{all}", texts.kprobes,
               "below the calls, as root: block I/O, waits, file operations of the kernel; =block, =block,wait, ...: "
               "only those; =syscalls: system calls counted (slows all programs of this machine while it lasts); "
               "=auto, =require")
      ->option_text("[=WHAT]")
      ->group(group);
  app.add_flag("--sample{all}", texts.sample, "look at the GPUs: use, memory, power, processes; =auto, =require, =off")
      ->option_text("[=gpu]")
      ->group(group);
  app.add_flag("--cupti{on}", texts.cupti,
               "what the GPUs do, by CUPTI, beside the rest: calls of CUDA, kernels, copies; =auto, =require, =off")
      ->option_text(" ")
      ->group(group);
  app.add_option("--sample-hz", options.sample_hz, "so often a second (10)")
      ->check(CLI::Range(0.1, 100.0))
      ->option_text("NUMBER")
      ->group(group);
  for (size_t i = 0; i < kAbsentStreams.size(); i++) {
    app.add_flag(fmt::format("--{}{{on}}", kAbsentStreams[i].first), texts.absent[i])->group("");
  }
  app.add_option("--alloc-min", texts.alloc_min, "list allocations of this size and more, count the others (1024)")
      ->option_text("SIZE")
      ->group(group);
  app.add_flag("--stacks{32}", texts.stacks,
               "who called: a stack with each recorded call and allocation, DEPTH frames at most (32, up to 128)")
      ->option_text("[=DEPTH]")
      ->group(group);
  add_list(app, "--mllog", options.mllog, "a file that the command writes MLLOG lines to; may be given again")
      ->option_text("FILE")
      ->group(group);
}

void add_less_options(CLI::App& app, RunTexts& texts, RunOptions& options) {
  const std::string group = "Less of it (what is left out is counted)";
  app.add_flag("--cupti-whole-graphs", options.whole_graphs,
               "of CUDA graphs each launch as a whole and not its kernels: mlrun --cupti --cupti-whole-graphs python "
               "serve.py")
      ->group(group);
  add_list(app, "--include", options.path_rules.include, "record calls on these files alone; may be given again")
      ->option_text("GLOB")
      ->group(group);
  add_list(app, "--exclude", options.path_rules.exclude, "leave out calls on these files; may be given again")
      ->option_text("GLOB")
      ->group(group);
  app.add_option("--alloc-sample", texts.alloc_sample,
                 "list allocations by chance, one in SIZE bytes, with their weight; count the others exactly")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--fold", texts.fold, "list calls shorter than TIME as sums by process, file and function")
      ->option_text("TIME")
      ->group(group);
  app.add_flag("--summary-only", options.summary_only,
               "list nothing: add everything up by process, phase, file, function and site; for runs of any length")
      ->group(group);
  app.add_option("--last", texts.last, "keep the events of the last TIME alone; with --max-spool: as many as fit")
      ->option_text("TIME")
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
  app.footer(kRunFooter);
  add_recording_options(app, texts, options);
  add_less_options(app, texts, options);
  add_place_options(app, texts, options);
  add_end_options(app, options);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<RunOptions>();
  Status status = take_command(app.remaining(), options);
  if (status) status = read_preload(texts.preload, options);
  if (status) status = read_kprobes(texts.kprobes, options);
  if (status) status = read_sample(texts.sample, options);
  if (status) status = read_cupti(texts.cupti, options);
  if (status && options.whole_graphs && options.cupti == Wish::kOff) {
    status = fail("--cupti-whole-graphs says how --cupti records; add --cupti, or leave it out");
  }
  for (size_t i = 0; status && i < kAbsentStreams.size(); i++) {
    status = check_absent(kAbsentStreams[i].first, kAbsentStreams[i].second, texts.absent[i]);
  }
  if (status) status = read_sizes(texts, options);
  if (status) status = read_path_rules(options);
  if (status) status = check_summary_only(texts, options);
  if (status) status = read_time("--last", texts.last, options.last_ns);
  if (status) status = read_time("--fold", texts.fold, options.fold_ns);
  if (status) status = read_stacks(texts.stacks, options);
  if (!status) return tl::make_unexpected(status.error());
  settle_streams(texts, options);
  const auto named = [](Wish wish) { return wish == Wish::kOn || wish == Wish::kRequire; };
  const bool others = options.cupti != Wish::kOff || named(options.sample) || named(options.kprobes);
  if (options.preload == Wish::kOff && !others) {
    return fail(
        "--preload=off leaves nothing to record; run the command without mlrun, or add --kprobes, --sample or --cupti");
  }
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

Result<std::optional<BenchOptions>> parse_bench(const Arguments& arguments) {
  BenchOptions options;
  CLI::App app("Measures what tracing costs on this machine, per call, beside the untraced program.", "bench");
  set_usage(app, "mlrun bench [OPTIONS]");
  app.footer(
      "Example: mlrun bench --seconds 20\n"
      "The summaries of later runs estimate by it what tracing cost them.");
  app.add_option("--seconds", options.seconds, "how long (5); longer gives narrower intervals")
      ->check(CLI::Range(0.1, 3600.0))
      ->option_text("N");
  app.add_flag("--json", options.json, "for machines");
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
