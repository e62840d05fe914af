// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/run_words.h"

#include <algorithm>

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

}  // namespace mlrun::sweep
