// SPDX-License-Identifier: Apache-2.0
// Streams that were on, requested ones that were not available, and the options of streams that were off.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/report/streams.h"
#include "runner/report/text/text.h"

namespace mlrun::report {
namespace {

// The reason is given only for streams named by the user.
std::string missing_text(const Stream& stream) {
  if (!stream.asked) return fmt::format("not available: {}", stream.text);
  return stream.reason.empty()
             ? fmt::format("requested but not available: {}", stream.text)
             : fmt::format("requested but not available: {} ({})", stream.text, printable(stream.reason));
}

// "allocations, --cupti": each option once; or the streams themselves if another stream of their option was on. Streams that are on only if a value
// of --kprobes names them are left out.
std::vector<std::string> off_names(const std::vector<Stream>& all) {
  std::vector<std::string> names;
  const auto is_partly_on = [&](const std::string& option) {
    return std::any_of(all.begin(), all.end(), [&](const Stream& stream) {
      return stream.state != StreamState::kOff && std::string(stream.option).starts_with(option);
    });
  };
  for (const Stream& stream : all) {
    const std::string option = stream.option;
    if (stream.state != StreamState::kOff || option.starts_with("--kprobes=")) continue;
    std::string name = option.empty() || is_partly_on(option) ? stream.text : option;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

bool observes_others(const model::Run& run) { return run.observed && run.observed->scope != "command"; }

}  // namespace

std::string streams_text(const Summary& summary, const TextStyle& style) {
  const std::vector<Stream> all = streams(summary.run);
  if (all.empty()) return {};
  std::vector<std::string> on, items;
  std::vector<const Stream*> missing;
  for (const Stream& stream : all) {
    if (stream.state == StreamState::kOn) on.emplace_back(stream.text);
    if (stream.state == StreamState::kNotAvailable) missing.push_back(&stream);
  }
  items.push_back(on.empty() ? "none was on" : fmt::format("on: {}", fmt::join(on, ", ")));
  for (const Stream* stream : missing) items.push_back(missing_text(*stream));
  const std::vector<std::string> off = off_names(all);
  if (!off.empty() && !observes_others(summary.run)) items.push_back(fmt::format("off: {}", fmt::join(off, ", ")));
  return wrap(style.bold("STREAMS"), kLead, items, style);
}

}  // namespace mlrun::report
