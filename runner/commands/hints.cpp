// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/hints.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "runner/commands/command.h"
#include "runner/launch/program_file.h"
#include "runner/options/access_options.h"
#include "runner/options/stream_options.h"
#include "runner/util/number.h"
#include "runner/util/similar.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

// Options with an optional value, given as "=VALUE".
struct ValuedOption {
  std::string_view name;
  std::vector<std::string_view> values;
  bool takes_number = false;
};

using Words = std::vector<std::string_view>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<ValuedOption> valued_options() {
  std::vector<ValuedOption> options = {{"--stacks", {}, true},
                                       {"--python-stacks", {}, true},
                                       {"--access", joined(access_rungs(), {"all", "on", "off", "require"}), true}};
  for (const OptionWords& words : option_words())
    options.push_back({words.option, joined(words.values(), {"all", "on", "off", "auto", "require"})});
  return options;
}

bool is_value_of(const ValuedOption& option, std::string_view word) {
  const auto parts = util::split(word, ",");
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return (option.takes_number && util::real_number(part)) ||
           std::find(option.values.begin(), option.values.end(), part) != option.values.end();
  });
}

// Words of other tools that mean one of mlrun's verbs.
std::string meant_by(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, const char*>, 5> kOthers = {{{"help", "mlrun --help"},
                                                                                {"version", "mlrun --version"},
                                                                                {"record", "mlrun run COMMAND..."},
                                                                                {"summary", "mlrun report TRACE"},
                                                                                {"tables", "mlrun show TRACE"}}};
  for (const auto& [other, verb] : kOthers) {
    if (other == word) return verb;
  }
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.emplace_back(command.name);
  const Command* found = find_command(util::most_similar(word, names));
  if (found == nullptr) return {};
  return fmt::format("mlrun {}{}{}", found->name, *found->arguments == '\0' ? "" : " ", found->arguments);
}

// "mlrun help report": the help of that verb.
std::string help_of(const Arguments& command) {
  const bool names_verb = command.size() > 1 && find_command(command[1]) != nullptr;
  return names_verb ? fmt::format("mlrun {} --help", command[1]) : "mlrun --help";
}

std::string what_is_meant(const Arguments& arguments, const Arguments& command) {
  const std::string& word = command.front();
  const size_t place = arguments.size() - command.size();
  if (place == 0) return word == "help" ? help_of(command) : meant_by(word);
  const std::string& before = arguments[place - 1];
  for (const ValuedOption& option : valued_options()) {
    if (option.name == before && is_value_of(option, word)) return fmt::format("{}={}", before, word);
  }
  if (before == "--" || find_command(word) == nullptr) return {};
  return fmt::format("mlrun {}, the verb first", word);
}

}  // namespace

std::optional<Error> hint(const Arguments& arguments, const RunOptions& options) {
  if (options.command.empty()) return {};
  const std::string& word = options.command.front();
  if (word.find('/') != std::string::npos) return {};
  const std::string meant = what_is_meant(arguments, options.command);
  if (meant.empty() || !launch::find_program(word).empty()) return {};
  constexpr int kNotFound = 127;
  return Error{fmt::format("{}: command not found; did you mean: {}", word, meant), kNotFound};
}

}  // namespace mlrun::commands
