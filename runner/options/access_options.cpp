// SPDX-License-Identifier: Apache-2.0
#include "runner/options/access_options.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/util/access_rungs.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun {

namespace {

constexpr double kFewestAccessHz = 0.01, kMostAccessHz = 100000;

Status read_word(const std::string& text, std::string_view word, AccessOptions& access) {
  if (const auto hz = util::real_number(word)) {
    if (!(*hz >= kFewestAccessHz && *hz <= kMostAccessHz))
      return fail(
          fmt::format("--access={}: the samples a second must be from {} to {}", text, kFewestAccessHz, kMostAccessHz));
    if (access.hz > 0) return fail(fmt::format("--access={}: two numbers of samples a second; give one", text));
    access.hz = *hz;
    return {};
  }
  if (word == "on" || word == "all") return {};
  if (word == "require") {
    access.wish = Wish::kRequire;
    return {};
  }
  const auto rungs = access_rungs();
  if (std::find(rungs.begin(), rungs.end(), word) == rungs.end())
    return fail(fmt::format("--access={}: '{}' is none of {}, a number of samples a second, off, require", text, word,
                            fmt::join(rungs, ", ")));
  if (std::find(access.rungs.begin(), access.rungs.end(), word) == access.rungs.end()) access.rungs.emplace_back(word);
  return {};
}

// A number, hexadecimal as perf's: 1cd, r1cd or 0x1cd.
Status read_event(const char* option, const std::optional<std::string>& text, std::optional<uint64_t>& event) {
  if (!text) return {};
  std::string_view digits = *text;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
  } else if (digits.starts_with('r')) {
    digits.remove_prefix(1);
  }
  event = util::whole_number<uint64_t>(digits, 16);
  if (!event) return fail(fmt::format("{} {}: give a hexadecimal number, as r1cd", option, *text));
  return {};
}

}  // namespace

std::vector<std::string_view> access_rungs() {
  return {util::kAccessRungNames.begin() + 1, util::kAccessRungNames.end()};
}

Status read_access(const RunTexts& texts, RunOptions& options) {
  AccessOptions& access = options.access;
  Status status = read_event("--access-read-event", texts.access_read_event, access.read_event);
  if (status) status = read_event("--access-write-event", texts.access_write_event, access.write_event);
  if (!status) return status;
  if (texts.access.empty() || texts.access == "off") return {};
  access.wish = Wish::kOn;
  if (util::has_empty_part(texts.access))
    return fail(fmt::format("--access={}: a value is missing beside a comma", texts.access));
  for (const std::string_view word : util::split(texts.access, ",")) {
    if (status = read_word(texts.access, word, access); !status) return status;
  }
  const auto is_named = [&](const char* rung) {
    return std::find(access.rungs.begin(), access.rungs.end(), rung) != access.rungs.end();
  };
  if (is_named("cold") && is_named("clear-refs"))
    return fail(fmt::format(
        "--access={}: cold and clear-refs clear the same bits and would disturb each other: name one", texts.access));
  return {};
}

}  // namespace mlrun
