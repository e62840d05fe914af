// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "runner/events/alloc_class.h"
#include "runner/events/record.h"
#include "runner/observe_options.h"
#include "runner/options.h"
#include "runner/run_texts.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kSmallestBuffer = 4 << 20;
constexpr uint64_t kLargestBuffer = uint64_t{4} << 30;
constexpr uint64_t kSmallestSpool = 4 << 20;

Status check_words(const char* option, const std::string& text) {
  const auto words = util::split(text, ",");
  const bool has_off = std::find(words.begin(), words.end(), "off") != words.end();
  if (!has_off || words.size() == 1) return {};
  return fail(fmt::format("{}={}: 'off' stands alone", option, text));
}

Status read_preload(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  if (Status words = check_words("--preload", text); !words) return words;
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

Status read_python_stacks(const std::string& text, RunOptions& options) {
  constexpr double kLeast = 0.1, kMost = 1000;
  if (text.empty()) return {};
  double rate = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, rate);
  if (error != std::errc() || read != end || !(rate >= kLeast && rate <= kMost)) {
    return fail(
        fmt::format("--python-stacks={}: the looks a second must be a number from {} to {}", text, kLeast, kMost));
  }
  if (options.preload == Wish::kOff && options.cupti == Wish::kOff) {
    return fail("--python-stacks looks at processes that record: add --preload or --cupti");
  }
  options.python_stacks_hz = rate;
  return {};
}

Status read_kprobes(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  if (Status words = check_words("--kprobes", text); !words) return words;
  options.kprobes = Wish::kOn;
  bool block = false, wait = false, vfs = false, syscalls = false, cuda = false, cufile = false, torch = false;
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
    else if (word == "cuda")
      block = cuda = true;
    else if (word == "cufile")
      block = cufile = true;
    else if (word == "torch")
      block = torch = true;
    else
      return fail(fmt::format(
          "--kprobes={}: '{}' is none of block, wait, vfs, syscalls, cuda, cufile, torch, all, off, auto, require",
          text, word));
  }
  if (block) options.kprobes_wait = wait;
  if (block) options.kprobes_vfs = vfs;
  const std::pair<bool, std::string_view> named[] = {{block, "block I/O"}, {wait, "waits"}, {vfs, "file operations"}};
  for (const auto& [is_named, signal] : named) {
    if (is_named && options.kprobes == Wish::kRequire) options.kprobes_required.push_back(signal);
  }
  options.kprobes_syscalls = syscalls;
  options.kprobes_cuda = cuda;
  options.kprobes_cufile = cufile;
  options.kprobes_torch = torch;
  return {};
}

Status read_sample(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  if (Status words = check_words("--sample", text); !words) return words;
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

// A stream that is named turns off those that are not; stacks, Python's too, and the kernel side go with calls.
void settle_streams(const RunTexts& texts, RunOptions& options) {
  if (texts.sample.empty() && !texts.preload.empty()) options.sample = Wish::kOff;
  const bool sample_alone = options.sample == Wish::kOn || options.sample == Wish::kRequire;
  const bool about_calls = !texts.stacks.empty() || !texts.python_stacks.empty() || !texts.kprobes.empty();
  if (texts.preload.empty() && !about_calls && sample_alone) {
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
  const char* of_allocs = texts.alloc_sample ? "--alloc-sample" : options.alloc_times ? "--alloc-dur" : nullptr;
  if (of_allocs && !options.allocs) {
    return fail(fmt::format("{}: --preload={} records no allocations; add allocs to it", of_allocs, texts.preload));
  }
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
      {!texts.python_stacks.empty(), "--python-stacks"},
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

// Reads and writes below calls of cuFile would be freed, and their bytes pass for the driver's.
Status check_last(const RunTexts& texts, const RunOptions& options) {
  if (!texts.last.has_value() || !options.kprobes_cufile) return {};
  return fail("--last frees events, and --kprobes=cufile needs all of them to count bytes once: leave one out");
}

// Nothing that was asked for is left out without a word.
Status check_library_options(const RunTexts& texts, const RunOptions& options) {
  if (options.preload != Wish::kOff) return {};
  const std::pair<bool, const char*> others[] = {{texts.alloc_min.has_value(), "--alloc-min"},
                                                 {texts.alloc_sample.has_value(), "--alloc-sample"},
                                                 {options.alloc_times, "--alloc-dur"},
                                                 {texts.fold.has_value(), "--fold"},
                                                 {!options.path_rules.empty(), "--include or --exclude"},
                                                 {!texts.stacks.empty() && options.cupti == Wish::kOff, "--stacks"}};
  for (const auto& [given, name] : others) {
    if (!given) continue;
    return fail(
        fmt::format("{} is about what the library records, and --preload=off leaves that out: leave one out", name));
  }
  return {};
}

Status read_kept_environment(const RunTexts& texts, RunOptions& options) {
  for (const std::string& text : texts.keep_environment) {
    const auto names = util::split(text, ",");
    if (names.empty() || text.find('=') != std::string::npos) {
      return fail(fmt::format("--keep-environment '{}': give names of variables, with commas between", text));
    }
    options.kept_environment.insert(options.kept_environment.end(), names.begin(), names.end());
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

}  // namespace

Result<std::optional<RunOptions>> parse_run(const Arguments& arguments) {
  RunOptions options;
  RunTexts texts;
  CLI::App app("Runs a command and records what it does.", "run");
  set_usage(app, "mlrun [run] [OPTIONS] [--] COMMAND...");
  app.prefix_command();
  add_run_options(app, texts, options);
  const auto parsed = parse(app, arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return std::optional<RunOptions>();
  Status status = read_kprobes(texts.kprobes, options);
  if (status) status = read_kept_environment(texts, options);
  if (status) status = read_stacks(texts.stacks, options);
  if (status) status = read_observe(texts, app.remaining(), options);
  if (!status) return tl::make_unexpected(status.error());
  for (std::string& path : options.mllog) path = std::filesystem::absolute(path).lexically_normal().string();
  if (options.observe.any()) return options;
  status = take_command(app.remaining(), options);
  if (status) status = read_preload(texts.preload, options);
  if (status) status = read_sample(texts.sample, options);
  if (status) status = read_cupti(texts.cupti, options);
  if (status && options.whole_graphs && options.cupti == Wish::kOff) {
    status = fail("--cupti-whole-graphs says how --cupti records; add --cupti, or leave it out");
  }
  if (status && options.graph_nodes_per_s && options.cupti == Wish::kOff) {
    status = fail("--cupti-graph-nodes says how --cupti records; add --cupti, or leave it out");
  }
  if (status && options.graph_nodes_per_s && options.whole_graphs) {
    status = fail("--cupti-graph-nodes: with --cupti-whole-graphs there are no nodes; leave one of them out");
  }
  for (size_t i = 0; status && i < kAbsentStreams.size(); i++) {
    status = check_absent(kAbsentStreams[i].first, kAbsentStreams[i].second, texts.absent[i]);
  }
  if (status) status = read_sizes(texts, options);
  if (status) status = read_path_rules(options);
  if (status) status = check_library_options(texts, options);
  if (status) status = check_summary_only(texts, options);
  if (status) status = check_last(texts, options);
  if (status) status = read_time("--last", texts.last, options.last_ns);
  if (status) status = read_time("--fold", texts.fold, options.fold_ns);
  if (status) status = read_python_stacks(texts.python_stacks, options);
  if (!status) return tl::make_unexpected(status.error());
  settle_streams(texts, options);
  const auto named = [](Wish wish) { return wish == Wish::kOn || wish == Wish::kRequire; };
  const bool others = options.cupti != Wish::kOff || named(options.sample) || named(options.kprobes);
  if (options.preload == Wish::kOff && !others) {
    return fail(
        "--preload=off leaves nothing to record; run the command without mlrun, or add --kprobes, --sample or --cupti");
  }
  return options;
}

}  // namespace mlrun
