// SPDX-License-Identifier: Apache-2.0
#include "runner/options/stream_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/events/record.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

// The words of a stream's option: on, off, auto, require, all, or its own values.
struct StreamWords {
  Wish wish = Wish::kOn;
  std::vector<std::string_view> values;  // empty: the option names no value

  [[nodiscard]] bool has(std::string_view value) const {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
};

using Words = std::vector<std::string_view>;

std::optional<Wish> wish_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Wish>, 4> kWishes = {
      {{"on", Wish::kOn}, {"off", Wish::kOff}, {"auto", Wish::kAuto}, {"require", Wish::kRequire}}};
  for (const auto& [name, wish] : kWishes) {
    if (name == word) return wish;
  }
  return std::nullopt;
}

Result<StreamWords> read_words(const char* option, const std::string& text) {
  const OptionWords& of_option = words_of(option);
  const Words known = of_option.values();
  StreamWords words;
  std::string_view wish_word;
  const auto parts = util::split(text, ",");
  if (util::has_empty_part(text)) return fail(fmt::format("{}={}: a value is missing beside a comma", option, text));
  for (const std::string_view word : parts) {
    if (const auto wish = wish_of(word)) {
      if (!wish_word.empty() && wish_word != word) {
        return fail(
            fmt::format("{}={}: '{}' and '{}' contradict; remove one of the two", option, text, wish_word, word));
      }
      words.wish = *wish;
      wish_word = word;
    } else if (word == "all") {
      words.values.insert(words.values.end(), of_option.all.begin(), of_option.all.end());
    } else if (std::find(known.begin(), known.end(), word) != known.end()) {
      words.values.push_back(word);
    } else {
      return fail(fmt::format("{}={}: '{}' is none of {}{}all, off, auto, require", option, text, word,
                              fmt::join(known, ", "), known.empty() ? "" : ", "));
    }
  }
  if (words.wish == Wish::kOff && parts.size() > 1) {
    return fail(fmt::format("{}={}: 'off' cannot be joined with other values", option, text));
  }
  return words;
}

Status read_preload(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  const auto words = read_words("--preload", text);
  if (!words) return tl::make_unexpected(words.error());
  options.preload = words->wish;
  if (words->values.empty()) return {};
  options.files = words->has("files");
  options.allocs = words->has("allocs");
  options.marks = words->has("marks");
  return {};
}

Status read_stacks(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  const auto depth = util::whole_number<uint32_t>(text).value_or(0);
  if (depth < 1 || depth > MLRUN_STACK_DEPTH_MAX) {
    return fail(fmt::format("--stacks={}: the depth must be a number from 1 to {}", text, +MLRUN_STACK_DEPTH_MAX));
  }
  options.stack_depth = depth;
  return {};
}

// By default, Python stacks are sampled if events have rows.
Status read_python_stacks(const std::string& text, RunOptions& options) {
  constexpr double kLeast = 0.1, kMost = 1000;
  if (text.empty() || text == "auto") {
    const bool records = options.preload != Wish::kOff || options.cupti != Wish::kOff;
    options.python_stacks = records && !options.summary_only ? Wish::kAuto : Wish::kOff;
    return {};
  }
  options.python_stacks = text == "off" ? Wish::kOff : Wish::kOn;
  if (text == "off" || text == "on") return {};
  const double rate = util::real_number(text).value_or(0);
  if (!(rate >= kLeast && rate <= kMost)) {
    return fail(fmt::format("--python-stacks={}: the samples a second must be a number from {} to {}, or off", text,
                            kLeast, kMost));
  }
  options.python_stacks_hz = rate;
  return {};
}

// Every value includes block I/O.
Status read_kprobes(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  const auto words = read_words("--kprobes", text);
  if (!words) return tl::make_unexpected(words.error());
  options.kprobes = words->wish;
  if (words->values.empty()) return {};
  util::KernelStreams::visit(options.kernel_streams, [&](const char* name, bool& is_on) { is_on = words->has(name); });
  if (options.kprobes != Wish::kRequire) return {};
  options.kprobes_required.emplace_back("block I/O");
  if (options.kernel_streams.wait) options.kprobes_required.emplace_back("waits");
  if (options.kernel_streams.vfs) options.kprobes_required.emplace_back("file operations");
  return {};
}

Status read_sample(const RunTexts& texts, RunOptions& options) {
  if (!texts.sample.empty()) {
    const auto words = read_words("--sample", texts.sample);
    if (!words) return tl::make_unexpected(words.error());
    options.sample = words->wish;
    if (!words->values.empty()) {
      options.sample_gpu = words->has("gpu");
      options.sample_threads = words->has("threads");
      options.sample_machine = words->has("machine");
      for (const std::string_view word : words_of("--sample").named) {
        if (words->has(word)) options.sample_counters.emplace_back(word);
      }
    }
  }
  if (!texts.sample_hz) return {};
  options.sample_hz = *texts.sample_hz;
  if (options.sample == Wish::kAuto && texts.sample.empty())
    options.sample = Wish::kOn;  // a rate turns the stream on too
  return {};
}

// With --summary-only no event has a row, and samples have none either unless they were asked for.
void settle_samples(RunOptions& options) {
  const bool records = options.preload != Wish::kOff || options.cupti != Wish::kOff;
  const bool is_wanted = options.sample != Wish::kAuto || !options.summary_only;
  options.sample_threads = options.sample_threads && is_wanted && records;
  options.sample_machine = options.sample_machine && is_wanted;
}

Status read_cupti(const std::string& text, RunOptions& options) {
  if (text.empty()) return {};
  const auto words = read_words("--cupti", text);
  if (!words) return tl::make_unexpected(words.error());
  options.cupti = words->wish;
  return {};
}

OptionWords kernel_words() {
  OptionWords words{"--kprobes", {"block"}, {}};
  util::KernelStreams::visit(util::KernelStreams{}, [&](const char* name, bool is_of_all) {
    (is_of_all ? words.all : words.named).emplace_back(name);
  });
  return words;
}

}  // namespace

Words OptionWords::values() const {
  Words values = all;
  values.insert(values.end(), named.begin(), named.end());
  return values;
}

const std::vector<OptionWords>& option_words() {
  static const std::vector<OptionWords> kAll = {
      {"--preload", {"files", "allocs", "marks"}, {}},
      kernel_words(),
      {"--sample", {"gpu", "threads", "machine"}, {"cpu", "disk", "net", "memory", "process"}},
      {"--cupti", {}, {}},
  };
  return kAll;
}

const OptionWords& words_of(std::string_view option) {
  return *std::ranges::find(option_words(), option, &OptionWords::option);
}

Status read_kernel_streams(const RunTexts& texts, RunOptions& options) {
  if (Status status = read_kprobes(texts.kprobes, options); !status) return status;
  return read_stacks(texts.stacks, options);
}

Status read_streams(const RunTexts& texts, RunOptions& options) {
  Status status = read_preload(texts.preload, options);
  if (status) status = read_sample(texts, options);
  if (status) status = read_cupti(texts.cupti, options);
  return status;
}

Status check_streams(const RunTexts& texts, RunOptions& options) {
  if (Status status = read_python_stacks(texts.python_stacks, options); !status) return status;
  settle_samples(options);
  if (options.summary_only) options.marks = false;  // a mark is one event and cannot be added up
  const bool all_off = options.preload == Wish::kOff && options.cupti == Wish::kOff && options.sample == Wish::kOff &&
                       options.kprobes == Wish::kOff && options.access.wish == Wish::kOff;
  if (!all_off || options.places()) return {};
  return fail(
      "--preload=off and --sample=off leave nothing to record; run the command without mlrun, or add --kprobes or "
      "--cupti");
}

}  // namespace mlrun
