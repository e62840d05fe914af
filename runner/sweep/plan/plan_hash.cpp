// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/plan_hash.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <nlohmann/json.hpp>

#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

using nlohmann::json;

boost::uuids::uuid identify(const json& content) {
  return boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(content.dump());
}

// Bytes that are no UTF-8 are escaped, differently for different bytes.
json texts(const Words& words) {
  json list = json::array();
  for (const std::string& word : words) list.push_back(util::escaped_utf8(word));
  return list;
}

json values(const Parameters& parameters) {
  json object = json::object();
  for (const auto& [name, value] : parameters) object[util::escaped_utf8(name)] = util::escaped_utf8(value);
  return object;
}

json what_is_run(const Plan& plan) {
  json content = {{"configurations", json::array()}, {"workloads", json::array()}, {"defaults", values(plan.defaults)}};
  for (const Configuration& one : plan.configurations) {
    content["configurations"].push_back({{"name", one.name},
                                         {"options", texts(one.options)},
                                         {"dry", one.is_dry},
                                         {"cpus", one.cpus},
                                         {"cpu_node", one.cpu_node},
                                         {"mem_node", one.mem_node},
                                         {"cache", static_cast<int>(one.cache)},
                                         {"environment", values(one.environment)},
                                         {"parameters", values(one.parameters)}});
  }
  for (const Workload& one : plan.workloads) {
    content["workloads"].push_back({util::escaped_utf8(one.key), util::escaped_utf8(one.text), values(one.parameters)});
  }
  return content;
}

}  // namespace

std::string hash_of(const Plan& plan) {
  json content = what_is_run(plan);
  content["repetitions"] = plan.repetitions;
  content["warm_up"] = plan.warm_up;
  content["order"] = static_cast<int>(plan.order);
  content["seed"] = plan.seed;
  content["time_limit_ns"] = plan.time_limit_ns;
  content["pause_ns"] = plan.pause_ns;
  content["before"] = texts(plan.before);
  content["after"] = texts(plan.after);
  content["input"] = util::escaped_utf8(plan.input);
  for (const Configuration& one : plan.configurations) {
    if (!one.rules.empty()) content["rules"].push_back({one.name, one.rules});
  }
  content["retries"] = plan.retries;
  content["stop"] = {plan.stop.within, plan.stop.at_least, plan.stop.at_most};
  if (plan.stop.within > 0) content["first_figure"] = plan.question.empty() ? "wall_s" : plan.question.front();
  return boost::uuids::to_string(identify(content));
}

uint64_t seed_of(const Plan& plan) {
  const boost::uuids::uuid hash = identify(what_is_run(plan));
  uint64_t seed = 0;
  for (size_t i = 0; i < sizeof seed; i++) seed = seed << 8 | hash.data[i];
  return seed >> 1;  // within the whole numbers of TOML, to be written into a plan
}

}  // namespace mlrun::sweep
