// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "runner/events/alloc_class.h"
#include "runner/options/access_options.h"
#include "runner/options/observe_options.h"
#include "runner/options/option_needs.h"
#include "runner/options/options.h"
#include "runner/options/run_flags.h"
#include "runner/options/stream_options.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr uint64_t kSmallestBuffer = 4 << 20;
constexpr uint64_t kLargestBuffer = uint64_t{4} << 30;
constexpr uint64_t kSmallestSpool = 4 << 20;

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
  if (*time == 0) return fail(fmt::format("{} {}: it must be greater than 0", option, *text));
  ns = *time;
  return {};
}

Status read_path_rules(RunOptions& options) {
  if (options.path_rules.empty()) return {};
  std::error_code ignored;
  auto bytes = launch::encoded_path_rules(options.path_rules, std::filesystem::current_path(ignored).string());
  if (!bytes) return tl::make_unexpected(bytes.error());
  options.path_rules_bytes = *std::move(bytes);
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

// "did you mean --preload? See ...".
std::string like_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::string meant = util::most_similar(word.substr(0, word.find('=')), names);
  return meant.empty() ? "see mlrun run --help" : "did you mean " + meant + "? See mlrun run --help";
}

// The words after mlrun's own options. A word that looks like an option here is an unknown one.
Status take_command(const CLI::App& app, RunOptions& options) {
  std::vector<std::string> rest = app.remaining();
  const bool marked = !rest.empty() && rest.front() == "--";
  if (marked) rest.erase(rest.begin());
  if (rest.empty()) return fail("no command to run; see mlrun --help");
  if (!marked && rest.front().starts_with('-')) {
    return fail(fmt::format("{}: no such option; {}", rest.front(), like_option(app, rest.front())));
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
  Status status = read_kernel_streams(texts, options);
  if (status) status = read_kept_environment(texts, options);
  if (status) status = read_observe(texts, app.remaining(), options);
  if (!status) return tl::make_unexpected(status.error());
  for (std::string& path : options.mllog) path = std::filesystem::absolute(path).lexically_normal().string();
  if (options.observe.any()) return options;
  status = take_command(app, options);
  if (status) status = read_streams(texts, options);
  if (status) status = read_access(texts, options);
  if (status) status = check_needs(texts, options);
  if (status) status = read_sizes(texts, options);
  if (status) status = read_path_rules(options);
  if (status) status = read_time("--last", texts.last, options.last_ns);
  if (status) status = read_time("--fold", texts.fold, options.fold_ns);
  if (status) status = check_streams(texts, options);
  if (!status) return tl::make_unexpected(status.error());
  return options;
}

}  // namespace mlrun
