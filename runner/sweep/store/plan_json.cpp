// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/plan_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

using nlohmann::json;

constexpr std::array kOrders = {"blocks", "sequence"};
constexpr std::array kCaches = {"as_is", "cold", "warm"};

// Lists the members of a struct once, for writing, reading and comparing: visit(key, member).
void visit_members(auto& configuration, auto visit, Configuration* /*of*/) {
  // The compiler refuses this if a member is missing, which a resumed sweep would forget.
  auto& [name, options, rules, is_dry, cpus, cpu_node, mem_node, cache, environment, parameters] = configuration;
  visit("name", name);
  visit("options", options);
  visit("rules", rules);
  visit("dry", is_dry);
  visit("cpus", cpus);
  visit("cpu_node", cpu_node);
  visit("mem_node", mem_node);
  visit("cache", cache);
  visit("environment", environment);
  visit("parameters", parameters);
}

void visit_members(auto& workload, auto visit, Workload* /*of*/) {
  auto& [key, text, parameters] = workload;
  visit("key", key);
  visit("text", text);
  visit("parameters", parameters);
}

// The settings that are part of every run, besides its configuration and workload.
void visit_ways(auto& plan, auto visit) {
  visit("order", plan.order);
  visit("time_limit_ns", plan.time_limit_ns);
  visit("pause_ns", plan.pause_ns);
  visit("before", plan.before);
  visit("after", plan.after);
  visit("input", plan.input);
}

void visit_rest(auto& plan, auto visit) {
  visit("repetitions", plan.repetitions);
  visit("seed", plan.seed);  // orders the runs that are added
  visit("warm_up", plan.warm_up);
  visit("retries", plan.retries);
  visit("stop_within", plan.stop.within);
  visit("stop_at_least", plan.stop.at_least);
  visit("stop_at_most", plan.stop.at_most);
  visit("question", plan.question);
  visit("margin", plan.margin);
}

void visit_members(auto& plan, auto visit, Plan* /*of*/) {
  visit_ways(plan, visit);
  visit_rest(plan, visit);
  visit("defaults", plan.defaults);
  visit("configurations", plan.configurations);
  visit("workloads", plan.workloads);
  visit("text", plan.text);
  visit("hash", plan.hash);
}

// Elements of lists may be lists.
template <typename T>
json as_json(const std::vector<T>& values);
template <typename T>
void from_json(const json& value, std::vector<T>& values);

template <typename T>
concept HasMembers = std::is_same_v<T, Configuration> || std::is_same_v<T, Workload> || std::is_same_v<T, Plan>;

// Texts may hold any bytes, JSON only UTF-8.
json as_json(const std::string& text) { return util::escaped_utf8(text); }
json as_json(Order order) { return kOrders[size_t(order)]; }
json as_json(Cache cache) { return kCaches[size_t(cache)]; }
template <typename T>
requires std::is_arithmetic_v<T> json as_json(T number) { return number; }
template <typename T>
json as_json(const std::optional<T>& value) {
  return value ? as_json(*value) : json();
}
json as_json(const std::map<std::string, std::string>& values) {
  json object = json::object();
  for (const auto& [name, value] : values) object[as_json(name).get<std::string>()] = as_json(value);
  return object;
}
template <HasMembers T>
json as_json(const T& object) {
  json result;
  visit_members(
      object, [&](const char* key, const auto& member) { result[key] = as_json(member); }, static_cast<T*>(nullptr));
  return result;
}
template <typename T>
json as_json(const std::vector<T>& values) {
  json list = json::array();
  for (const T& value : values) list.push_back(as_json(value));
  return list;
}

void from_json(const json& value, std::string& text) { text = util::unescaped_utf8(value.get<std::string>()); }
template <typename Enum>
void from_names(const json& value, const auto& names, Enum& result) {
  const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
  if (found == names.end()) throw json::other_error::create(501, "unknown name " + value.dump(), &value);
  result = static_cast<Enum>(found - names.begin());
}
void from_json(const json& value, Order& order) { from_names(value, kOrders, order); }
void from_json(const json& value, Cache& cache) { from_names(value, kCaches, cache); }
template <typename T>
requires std::is_arithmetic_v<T>
void from_json(const json& value, T& number) { number = value.get<T>(); }
template <typename T>
void from_json(const json& value, std::optional<T>& result) {
  result.reset();
  if (!value.is_null()) from_json(value, result.emplace());
}
void from_json(const json& value, std::map<std::string, std::string>& values) {
  values.clear();
  for (const auto& [name, one] : value.items()) {
    std::string key;
    from_json(json(name), key);
    from_json(one, values[key]);
  }
}
template <HasMembers T>
void from_json(const json& value, T& object) {
  visit_members(
      object,
      [&](const char* key, auto& member) {
        const bool may_lack = std::string_view(key) == "rules";  // sweeps of older versions lack it
        if (!may_lack || value.contains(key)) from_json(value.at(key), member);
      },
      static_cast<T*>(nullptr));
}
template <typename T>
void from_json(const json& value, std::vector<T>& values) {
  values.clear();
  for (const json& one : value) from_json(one, values.emplace_back());
}

// The first key whose values differ: "KEY was A and is B".
std::string difference(const json& before, const json& after, const std::string& of) {
  for (const auto& [key, value] : before.items()) {
    if (after.at(key) != value)
      return fmt::format("{}{} was {} and is {}", of, key, value.dump(), after.at(key).dump());
  }
  return {};
}

json ways_json(const Plan& plan) {
  json result;
  visit_ways(plan, [&](const char* key, const auto& member) { result[key] = as_json(member); });
  return result;
}

json rest_json(const Plan& plan) {
  json result;
  visit_rest(plan, [&](const char* key, const auto& member) { result[key] = as_json(member); });
  return result;
}

}  // namespace

// `directory` is no member of the list: sweeps of older versions lack it, and it is no part of what a plan says.
std::string to_json(const Plan& plan) {
  json object = as_json(plan);
  object["directory"] = as_json(plan.directory);
  return object.dump();
}

Result<Plan> plan_from_json(const std::string& text) try {
  Plan plan;
  const json object = json::parse(text);
  from_json(object, plan);
  if (object.contains("directory")) from_json(object.at("directory"), plan.directory);
  return plan;
} catch (const std::exception& error) {
  return fail(fmt::format("the stored plan is damaged, or from another version of mlrun: {}", error.what()));
}

std::string changed_runs(const Plan& before, const Plan& after) {
  if (auto way = difference(ways_json(before), ways_json(after), ""); !way.empty()) return way;
  for (const Configuration& old : before.configurations) {
    const auto found = std::find_if(after.configurations.begin(), after.configurations.end(),
                                    [&](const Configuration& one) { return one.name == old.name; });
    if (found == after.configurations.end()) return fmt::format("configuration \"{}\" is no longer there", old.name);
    if (!old.rules.empty() && old.rules != found->rules && old.options == found->options)
      return fmt::format("the placement rule file of configuration \"{}\" was changed", old.name);
    json was = as_json(old);
    was.erase("rules");
    auto text = difference(was, as_json(*found), fmt::format("of configuration \"{}\" ", old.name));
    if (!text.empty()) return text;
  }
  for (const Workload& old : before.workloads) {
    const bool there = std::any_of(after.workloads.begin(), after.workloads.end(),
                                   [&](const Workload& one) { return one.key == old.key; });
    if (!there) return fmt::format("workload \"{}\" is no longer there", old.key);
  }
  if (after.repetitions < before.repetitions) {
    return fmt::format("repetitions was {} and is {}", before.repetitions, after.repetitions);
  }
  return {};
}

std::string changed_plan(const Plan& before, const Plan& after) {
  if (auto runs = changed_runs(before, after); !runs.empty()) return runs;
  for (const Configuration& one : after.configurations) {
    const bool is_new = std::none_of(before.configurations.begin(), before.configurations.end(),
                                     [&](const Configuration& old) { return one.name == old.name; });
    if (is_new) return fmt::format("configuration \"{}\" is new", one.name);
  }
  for (const Workload& one : after.workloads) {
    const bool is_new = std::none_of(before.workloads.begin(), before.workloads.end(),
                                     [&](const Workload& old) { return one.key == old.key; });
    if (is_new) return fmt::format("workload \"{}\" is new", one.key);
  }
  return difference(rest_json(before), rest_json(after), "");
}

}  // namespace mlrun::sweep
