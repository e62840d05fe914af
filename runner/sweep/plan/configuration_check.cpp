// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/configuration_check.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/events/placement.h"
#include "runner/launch/placement.h"
#include "runner/options/options.h"
#include "runner/placement/resolve.h"
#include "runner/sweep/plan/named_values.h"
#include "runner/util/id_list.h"

namespace mlrun::sweep {

namespace {

constexpr size_t kNameMax = 60;

void check_name(const ConfigurationDraft& configuration, std::map<std::string, int>& lines, Faults& faults) {
  const std::string& name = configuration.values.name;
  const Place place = configuration.place_of("name");
  const bool is_good = name.size() <= kNameMax && !name.empty() && name.front() != '-' &&
                       std::all_of(name.begin(), name.end(), [](unsigned char byte) {
                         return byte < 0x80 && (std::isalnum(byte) != 0 || byte == '_' || byte == '-');
                       });
  if (!is_good) {
    faults.add(
        place,
        fmt::format("'{}' is used in names of folders: use letters, digits, _ and -, at most {} of them, and no - at "
                    "the start",
                    name, kNameMax));
    return;
  }
  const auto [first, is_new] = lines.emplace(name, place.line);
  if (!is_new)
    faults.add(place,
               fmt::format("{} is the name of the configuration in line {}, too: rename one", name, first->second));
}

using FindList = Result<util::IdList>(const std::string& list);

// The form of a list is all that can be checked here for other machines.
Result<util::IdList> checked_list(const std::string& list, FindList& find, RunsOn runs_on) {
  if (list.empty()) return util::IdList();
  return runs_on == RunsOn::kOthers ? util::parse_id_list(list) : find(list);
}

void check_placement(const ConfigurationDraft& configuration, RunsOn runs_on, Faults& faults) {
  const Configuration& values = configuration.values;
  if (!values.cpus.empty() && !values.cpu_node.empty()) {
    faults.add(configuration.place_of("cpu_node"), "the key cpus chooses CPUs, too: leave one of them out");
  }
  const std::pair<const char*, Result<util::IdList>> lists[] = {
      {"cpus", checked_list(values.cpus, launch::find_cpus, runs_on)},
      {"cpu_node", checked_list(values.cpu_node, launch::find_cpus_of_nodes, runs_on)},
      {"mem_node", checked_list(values.mem_node, launch::find_memory_nodes, runs_on)}};
  for (const auto& [key, found] : lists) {
    if (!found) faults.add(configuration.place_of(key), found.error().text);
  }
}

// The first of the parsed options that a sweep does not allow, and why; nullopt: none.
std::optional<std::string> misplaced(const RunOptions& options, const Configuration& values) {
  if (options.output) return "-o: the sweep names the folders of its runs";
  if (options.observe.any()) return "--pid, --cgroup and --system record no command";
  if (options.defer_merge)
    return "--defer-merge: a sweep takes the figures of a run from its trace, so it needs the trace at once";
  if ((!options.cpus.empty() || !options.cpu_node.empty()) && (!values.cpus.empty() || !values.cpu_node.empty())) {
    return "--cpus or --cpu-node: the keys cpus and cpu_node choose CPUs, too";
  }
  for (const auto& [option, nodes] :
       {std::pair{"--mem-node", &options.mem_node}, std::pair{"--preferred", &options.preferred},
        std::pair{"--interleave", &options.interleave},
        std::pair{"--weighted-interleave", &options.weighted_interleave}}) {
    if (!nodes->empty() && !values.mem_node.empty())
      return fmt::format("{}: the key mem_node chooses nodes of memory, too", option);
  }
  return {};
}

// The options that place the command and its blocks, against this machine.
void check_places_here(const RunOptions& options, const Place& place, Faults& faults) {
  const auto placement = launch::find_placement({options.cpus, options.cpu_node, options.mem_node, options.preferred,
                                                 options.interleave, options.weighted_interleave});
  if (!placement) faults.add(place, placement.error().text);
  const auto rules = placement::find_rules({options.place, options.mem_kind, options.pmem});
  const auto bytes = rules ? placement::encoded_rules(*rules) : tl::make_unexpected(rules.error());
  if (!bytes) faults.add(place, bytes.error().text);
}

// The same for other machines: what no machine could run.
void check_places_elsewhere(const RunOptions& options, const Place& place, Faults& faults) {
  const std::pair<const char*, const std::string&> lists[] = {{"--cpus", options.cpus},
                                                              {"--cpu-node", options.cpu_node},
                                                              {"--mem-node", options.mem_node},
                                                              {"--preferred", options.preferred},
                                                              {"--interleave", options.interleave},
                                                              {"--weighted-interleave", options.weighted_interleave}};
  for (const auto& [option, list] : lists) {
    const auto ids = list.empty() ? util::IdList() : util::parse_id_list(list);
    if (!ids) faults.add(place, fmt::format("{} {}: {}", option, list, ids.error().text));
  }
  std::vector<const char*> policies;
  for (size_t i = 2; i < std::size(lists); i++) {
    if (!lists[i].second.empty()) policies.push_back(lists[i].first);
  }
  if (policies.size() > 1)
    faults.add(place, fmt::format("{} both choose nodes of memory: give one of them", fmt::join(policies, " and ")));
  const auto rules = placement::read_rules({options.place, options.mem_kind, options.pmem});
  if (!rules) return faults.add(place, rules.error().text);
  if (rules->size() > MLRUN_PLACE_RULES)
    faults.add(place, fmt::format("--place: {} rules; {} are the most", rules->size(), int{MLRUN_PLACE_RULES}));
}

void check_options(const ConfigurationDraft& configuration, RunsOn runs_on, Faults& faults) {
  const Configuration& values = configuration.values;
  const Place place = configuration.place_of("options");
  if (values.options.empty()) return;
  if (values.is_dry) return faults.add(place, "a dry configuration is not recorded: leave out options, or dry");
  for (const std::string& word : values.options) {
    if (word == "-h" || word == "--help")
      return faults.add(place, word + " prints a page and runs nothing: leave it out");
    if (word == "--") return faults.add(place, "-- ends the options, and the command is in workloads: leave it out");
  }
  const auto parsed = parse_options(values.options);
  if (!parsed) return faults.add(place, parsed.error().text);
  const RunOptions& options = *parsed;
  if (const auto what = misplaced(options, values)) return faults.add(place, *what + "; leave it out");
  if (options.command != std::vector<std::string>{"command"}) {
    return faults.add(place, fmt::format("{} is no option of mlrun run (a value is joined by =, as in --kprobes=block)",
                                         options.command.front()));
  }
  (runs_on == RunsOn::kOthers ? check_places_elsewhere : check_places_here)(options, place, faults);
}

void check_names_of_values(const ConfigurationDraft& configuration, Faults& faults) {
  for (const auto& [name, value] : configuration.values.environment) {
    if (!name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos) continue;
    faults.add(configuration.place_of("environment"), fmt::format("'{}' cannot be the name of a variable", name));
  }
  for (const auto& [name, value] : configuration.values.parameters) {
    if (is_value_name(name)) continue;
    faults.add(configuration.place_of("parameters").below(name),
               "this cannot be a {name}: use letters, digits, _ and -, a letter first");
  }
}

}  // namespace

Result<RunOptions> parse_options(const Words& options) {
  Arguments arguments = options;
  arguments.insert(arguments.end(), {"--", "command"});
  auto parsed = parse_run(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return **std::move(parsed);
}

void check_configurations(Draft& draft) {
  std::map<std::string, int> lines;
  for (const ConfigurationDraft& configuration : draft.configurations) {
    check_name(configuration, lines, draft.faults);
    check_placement(configuration, draft.runs_on, draft.faults);
    check_options(configuration, draft.runs_on, draft.faults);
    check_names_of_values(configuration, draft.faults);
  }
}

}  // namespace mlrun::sweep
