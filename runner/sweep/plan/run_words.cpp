// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/run_words.h"

#include <algorithm>
#include <cctype>

#include "runner/report/text/text_style.h"

namespace mlrun::sweep {

Words run_words(const Plan& plan, const PlannedRun& run, const std::string& program, const std::string& folder) {
  const Configuration& configuration = plan.configurations[run.configuration];
  if (configuration.is_dry) return run.command;
  Words words = {program, "run"};
  const auto& options = configuration.options;
  words.insert(words.end(), options.begin(), options.end());
  const std::pair<const char*, const std::string&> lists[] = {
      {"--cpus", configuration.cpus}, {"--cpu-node", configuration.cpu_node}, {"--mem-node", configuration.mem_node}};
  for (const auto& [option, list] : lists) {
    if (!list.empty()) words.insert(words.end(), {option, list});
  }
  if (std::find(options.begin(), options.end(), "--quiet") == options.end()) words.emplace_back("--quiet");
  words.insert(words.end(), {"-o", folder, "--"});
  words.insert(words.end(), run.command.begin(), run.command.end());
  return words;
}

std::string variables_text(const std::map<std::string, std::string>& variables) {
  const auto is_of_shell = [](const auto& variable) {
    const std::string& name = variable.first;
    return std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char byte) { return byte == '_' || (byte < 0x80 && std::isalnum(byte) != 0); });
  };
  const bool by_env = !std::all_of(variables.begin(), variables.end(), is_of_shell);
  std::string text = by_env ? "env " : "";
  for (const auto& [name, value] : variables) {
    text += by_env ? report::shell_word(name + "=" + value) : name + "=" + report::shell_word(value);
    text += ' ';
  }
  return text;
}

}  // namespace mlrun::sweep
