// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/toml_draft.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "runner/sweep/plan/shell_words.h"
#include "runner/sweep/plan/toml_keys.h"

namespace mlrun::sweep {

namespace {

constexpr int64_t kRetriesMax = 100;
const std::vector<std::string> kPlanKeys = {"repetitions", "workloads",  "parameters", "order",  "seed",
                                            "warm_up",     "time_limit", "pause",      "before", "after",
                                            "retries",     "stop",       "question",   "margin", "input"};

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

void read_parameters(TomlKeys& keys, Draft& draft) {
  const toml::node* node = keys.find("parameters");
  if (node == nullptr) return;
  const toml::table* table = node->as_table();
  if (table == nullptr) return keys.wrong_type("parameters", *node, "a table such as workers = [2, 8]");
  if (table->empty())
    return draft.faults.add(keys.place_of("parameters", *node),
                            "the table is empty: add a name with its values, or leave it out");
  for (const auto& [key, value] : *table) {
    ParameterDraft parameter;
    parameter.name = key.str();
    parameter.place = keys.place_of("parameters").below(parameter.name);
    parameter.place.line = static_cast<int>(key.source().begin.line);
    const toml::array* array = value.as_array();
    if (array != nullptr && array->empty()) {
      draft.faults.add(parameter.place, "the array is empty: add a value, or leave the name out");
      continue;
    }
    bool is_good = true;
    for (size_t i = 0; i < (array == nullptr ? 1 : array->size()); i++) {
      const toml::node& item = array == nullptr ? value : (*array)[i];
      std::string text;
      is_good = scalar_text(item, text) && text.find('\0') == std::string::npos;
      if (!is_good) {
        draft.faults.add(parameter.place, "a value is a text, a number, true or false; write an array of such values");
        break;
      }
      parameter.values.push_back(std::move(text));
    }
    if (is_good) draft.parameters.push_back(std::move(parameter));
  }
}

void read_workloads(TomlKeys& keys, Draft& draft) {
  std::vector<std::string> texts;
  std::vector<Place> places;
  if (!keys.texts("workloads", texts, &places)) return;
  for (size_t i = 0; i < texts.size(); i++) {
    auto words = shell_words(texts[i]);
    if (words) {
      draft.workloads.push_back({texts[i], *std::move(words), places[i]});
    } else {
      draft.faults.add(places[i], words.error().text);
    }
  }
}

void read_stop(TomlKeys& keys, Draft& draft) {
  const toml::node* node = keys.find("stop");
  if (node == nullptr) return;
  const toml::table* table = node->as_table();
  if (table == nullptr) return keys.wrong_type("stop", *node, "a table such as {within = \"2 %\", at_most = 30}");
  const Place place = keys.place_of("stop", *node);
  TomlKeys stop(*table, place, draft.faults);
  int64_t at_least = 0, at_most = 0;
  const bool has_within = stop.fraction("within", draft.plan.stop.within);
  stop.number("at_least", kFewestForStop, kRepetitionsMax, at_least);
  stop.number("at_most", kFewestForStop, kRepetitionsMax, at_most);
  const bool is_known = stop.refuse_others();
  if (!has_within && is_known && table->get("within") == nullptr) {
    draft.faults.add(place.below("within"), "the key is missing: how narrow the interval has to be, such as \"2 %\"");
  }
  draft.plan.stop.at_least = static_cast<int32_t>(at_least);
  draft.plan.stop.at_most = static_cast<int32_t>(at_most);
}

// A list of CPUs or nodes; one number may be written as such.
void read_list(TomlKeys& keys, const std::string& key, std::string& list) {
  const toml::node* node = keys.find(key);
  if (node == nullptr) return;
  if (node->is_string()) {
    keys.text(key, list);
  } else if (!node->is_integer() || !scalar_text(*node, list)) {
    keys.wrong_type(key, *node, "a list such as \"0-3,8\", or one number");
  }
}

void read_configuration(const toml::table& table, const std::string& file, Draft& draft) {
  ConfigurationDraft configuration;
  configuration.place = {file, line_of(table), "configuration"};
  Configuration& values = configuration.values;
  TomlKeys keys(table, configuration.place, draft.faults);
  size_t cache = 0;
  keys.text("name", values.name);
  keys.words("options", values.options);
  keys.flag("dry", values.is_dry);
  read_list(keys, "cpus", values.cpus);
  read_list(keys, "cpu_node", values.cpu_node);
  read_list(keys, "mem_node", values.mem_node);
  if (keys.choice("cache", {"cold", "warm"}, cache)) values.cache = cache == 0 ? Cache::kCold : Cache::kWarm;
  keys.scalars("environment", "variables and their values",
               [&](const std::string& name, std::string value) { values.environment[name] = std::move(value); });
  keys.scalars("parameters", "names and one value each",
               [&](const std::string& name, std::string value) { values.parameters[name] = std::move(value); });
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    configuration.places[name] = keys.place_of(name);
  }
  if (keys.refuse_others(kPlanKeys) && table.get("name") == nullptr) {
    draft.faults.add(configuration.place.below("name"), "the key is missing: each configuration has a name");
  }
  draft.configurations.push_back(std::move(configuration));
}

void read_configurations(TomlKeys& keys, const std::string& file, Draft& draft) {
  const toml::node* node = keys.find("configuration");
  if (node == nullptr) return;
  if (!draft.configurations.empty()) {
    return draft.faults.add(keys.place_of("configuration", *node),
                            "--modes gives the configurations, too: leave out [[configuration]], or --modes");
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty() || !array->is_homogeneous<toml::table>()) {
    return keys.wrong_type("configuration", *node, "[[configuration]] with its keys below it");
  }
  for (const toml::node& item : *array) read_configuration(*item.as_table(), file, draft);
}

void read_plan_keys(const toml::table& table, const std::string& file, Draft& draft) {
  TomlKeys keys(table, {file, 0, ""}, draft.faults);
  Plan& plan = draft.plan;
  const bool has_modes = !draft.configurations.empty();
  int64_t repetitions = 0, seed = 0, warm_up = 0, retries = 0;
  size_t order = has_modes ? 1 : 0;
  keys.number("repetitions", 1, kRepetitionsMax, repetitions);
  read_workloads(keys, draft);
  read_parameters(keys, draft);
  keys.choice("order", {"blocks", "sequence"}, order);
  keys.number("seed", 0, std::numeric_limits<int64_t>::max(), seed);
  keys.number("warm_up", 0, kRepetitionsMax, warm_up);
  keys.time("time_limit", plan.time_limit_ns);
  keys.time("pause", plan.pause_ns);
  keys.words("before", plan.before);
  keys.words("after", plan.after);
  keys.number("retries", 0, kRetriesMax, retries);
  read_stop(keys, draft);
  keys.texts("question", plan.question);
  keys.fraction("margin", plan.margin);
  keys.text("input", plan.input);
  read_configurations(keys, file, draft);
  plan.repetitions = static_cast<int32_t>(repetitions);
  plan.order = order == 0 ? Order::kBlocks : Order::kSequence;
  plan.seed = static_cast<uint64_t>(seed);
  plan.warm_up = static_cast<int32_t>(warm_up);
  plan.retries = static_cast<int32_t>(retries);
  for (const auto& [key, value] : table) draft.places[std::string(key.str())] = keys.place_of(std::string(key.str()));
  if (!keys.refuse_others()) return;
  const auto missing = [&](const char* key, const char* what) {
    if (table.get(key) != nullptr) return;
    const bool is_parameter = std::any_of(draft.parameters.begin(), draft.parameters.end(),
                                          [&](const ParameterDraft& parameter) { return parameter.name == key; });
    draft.faults.add({file, 0, key}, std::string("the key is missing: ") + what +
                                         (is_parameter ? "; it is below [parameters]: move it above" : ""));
  };
  if (table.get("stop") == nullptr) missing("repetitions", "how often everything is run");
  missing("workloads", "the commands to run");
  if (!has_modes) missing("configuration", "write [[configuration]] and its name, once for each way of running");
}

// The plan with the configurations of a modes file, in TOML.
std::string with_modes(const toml::table& plan, const Draft& draft) {
  toml::table table = plan;
  toml::array configurations;
  for (const ConfigurationDraft& one : draft.configurations) {
    toml::table keys{{"name", one.values.name}};
    if (one.values.is_dry) keys.insert("dry", true);
    if (!one.values.options.empty()) {
      toml::array options;
      for (const std::string& word : one.values.options) options.push_back(word);
      keys.insert("options", std::move(options));
    }
    if (!one.values.cpu_node.empty()) keys.insert("cpu_node", one.values.cpu_node);
    if (!one.values.mem_node.empty()) keys.insert("mem_node", one.values.mem_node);
    configurations.push_back(std::move(keys));
  }
  table.insert("order", "sequence");  // has no effect if the plan has an order
  table.insert("configuration", std::move(configurations));
  std::ostringstream text;
  text << table << "\n";
  return text.str();
}

}  // namespace

void read_toml(const std::string& text, const std::string& file, Draft& draft) {
  try {
    const toml::table table = toml::parse(text, file);
    const bool has_modes = !draft.configurations.empty();
    read_plan_keys(table, file, draft);
    draft.plan.text = has_modes ? with_modes(table, draft) : text;
  } catch (const toml::parse_error& error) {
    draft.faults.add({file, static_cast<int>(error.source().begin.line), ""},
                     fmt::format("this is no TOML: {}", error.description()));
  }
}

std::string toml_text(const Draft& draft) {
  toml::array workloads;
  for (const WorkloadDraft& workload : draft.workloads) workloads.push_back(workload.text);
  const toml::table table{
      {"repetitions", draft.plan.repetitions}, {"after", "sync"}, {"workloads", std::move(workloads)}};
  return with_modes(table, draft);
}

}  // namespace mlrun::sweep
