// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/cost.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/session/host_facts.h"
#include "runner/util/clock.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/proc_lines.h"

namespace mlrun::bench {

namespace {

using nlohmann::json;

constexpr int kCostSchemaVersion = 1;
constexpr double kMostNs = 1e9;  // a larger cost of a call means that the file is damaged
constexpr std::array kIdentityKeys = {"host", "kernel", "cpu_model", "clock", "library"};
constexpr uint64_t kRetryNs = 3'600'000'000'000;  // until the next try, if a measurement was too noisy
constexpr size_t kMostKept = 16;
constexpr size_t kMostBytes = 1 << 16;
constexpr Plan kQuickPlan = {true, 150'000, 0, 1, 1};

// A class of calls that cost the same, and the operations that measure it: the first one that was measured is used.
struct CostClass {
  const char* name;
  std::array<const char*, 2> operations;
  const char* less;  // operation to subtract, since another class is charged for it; or null
};
constexpr CostClass kClasses[] = {
    {"alloc_listed", {"alloc_listed", ""}, nullptr},
    {"alloc_counted", {"alloc_live", "alloc_some_live"}, nullptr},
    {"call", {"pread", ""}, nullptr},
    {"path_call", {"stat", ""}, nullptr},
    {"open", {"open_close", ""}, "pread"},
    {"stdio", {"stdio", ""}, nullptr},
    {"mark", {"mark", ""}, nullptr},
    {"fork", {"fork", ""}, nullptr},
    {"exec", {"exec", ""}, nullptr},
    {"thread", {"thread", ""}, nullptr},
};

const Figure* find_figure(const Measurement& measurement, const std::string& operation) {
  const auto found = std::find_if(measurement.figures.begin(), measurement.figures.end(),
                                  [&](const Figure& figure) { return operation == figure.operation->name; });
  return found == measurement.figures.end() ? nullptr : &*found;
}

std::optional<Estimate> figure_of(const CostClass& cost, const Measurement& measurement) {
  const Figure* figure = find_figure(measurement, cost.operations[0]);
  if (figure == nullptr) figure = find_figure(measurement, cost.operations[1]);
  if (figure == nullptr) return {};
  Estimate estimate = figure->added_ns;
  if (const Figure* less = cost.less != nullptr ? find_figure(measurement, cost.less) : nullptr) {
    estimate.median -= less->added_ns.median;
    estimate.low -= less->added_ns.high;
    estimate.high -= less->added_ns.low;
  }
  return estimate;
}

std::string clock_name() { return util::choose_clock().kind == MLRUN_CLOCK_TSC ? "tsc" : "monotonic"; }

bool is_own_folder(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

// All stored costs, also those of other machines that share the installed programs.
json kept_costs(const std::string& path) {
  json costs = util::parse_json(util::read_text(path, kMostBytes));
  return costs.is_array() ? costs : json::array();
}

// Under strace or a debugger every system call costs many times more, so nothing is measured.
bool is_stopped_by_a_tracer() {
  const std::string status = util::read_text("/proc/self/status");
  const auto tracer = util::status_words(status, "TracerPid:");
  return !tracer.empty() && tracer.front() != "0";
}

bool is_recent(const json& cost) {
  const json measured = cost.value("measured_realtime_ns", json());
  return measured.is_number_unsigned() && util::realtime_ns() - measured.get<uint64_t>() < kRetryNs;
}

bool is_of(const json& cost, const json& identity) {
  return cost.is_object() && std::all_of(kIdentityKeys.begin(), kIdentityKeys.end(), [&](const char* key) {
           return cost.value(key, json()) == identity.value(key, json(""));
         });
}

bool is_valid(const json& cost) {
  if (cost.value("schema_version", json()) != kCostSchemaVersion) return false;
  const auto figures = cost.find("cost_per_call_ns");
  if (figures == cost.end() || !figures->is_object()) return false;
  return std::all_of(figures->begin(), figures->end(), [](const json& ns) {
    return ns.is_number() && ns.get<double>() >= 0 && ns.get<double>() < kMostNs;
  });
}

}  // namespace

json cost_identity(const std::string& library) {
  const json host = session::host_facts();
  const std::string content = util::read_text(library);
  return {{"host", host.value("name", "")},
          {"kernel", host.value("kernel", "")},
          {"cpu_model", host.value("cpu_model", "")},
          {"clock", clock_name()},
          {"library", fmt::format("{:08x}", util::crc32c(0, content.data(), content.size()))}};
}

json make_cost(const Measurement& measurement, json identity, const std::string& source) {
  json costs = json::object(), intervals = json::object();
  for (const CostClass& cost : kClasses) {
    const auto figure = figure_of(cost, measurement);
    if (!figure || is_useless(*figure)) continue;
    costs[cost.name] = figure->median;
    intervals[cost.name] = {figure->low, figure->high};
  }
  json result = std::move(identity);
  result["schema_version"] = kCostSchemaVersion;
  result["source"] = source;
  result["measured_realtime_ns"] = util::realtime_ns();
  result["cost_per_call_ns"] = std::move(costs);
  result["interval_ns"] = std::move(intervals);
  return result;
}

bool is_sufficient(const json& cost) {
  const auto figures = cost.find("cost_per_call_ns");
  return figures != cost.end() && figures->contains("call") && figures->contains("alloc_listed");
}

std::string cost_file(const std::string& library) {
  return std::filesystem::path(library).parent_path() / "mlrun-cost.json";
}

json stored_cost(const std::string& file, const json& identity) {
  const json costs = kept_costs(file);
  const auto mine = std::find_if(costs.rbegin(), costs.rend(), [&](const json& cost) { return is_of(cost, identity); });
  return mine != costs.rend() && is_valid(*mine) ? *mine : json();
}

Status store_cost(const std::string& file, const json& cost) {
  const std::string folder = std::filesystem::path(file).parent_path();
  if (!is_own_folder(folder)) return fail("the folder " + folder + " belongs to another user");
  json costs = json::array();
  for (json& other : kept_costs(file)) {
    if (!is_of(other, cost)) costs.push_back(std::move(other));
  }
  while (costs.size() >= kMostKept) costs.erase(costs.begin());
  costs.push_back(cost);
  return util::write_atomically(file, costs.dump(1) + "\n", 0644);
}

json find_cost(const Installed& installed, const Report& report) {
  const json identity = cost_identity(installed.library);
  const std::string file = cost_file(installed.library);
  json cost = stored_cost(file, identity);
  if (!cost.is_null() && is_sufficient(cost)) return cost;
  const bool in_vain = !cost.is_null() && is_recent(cost);
  if (in_vain || is_stopped_by_a_tracer()) return {};
  const auto measurement = measure(kQuickPlan, installed, report);
  if (!measurement) return {};
  cost = make_cost(*measurement, identity, "quick");
  (void)store_cost(file, cost);
  return is_sufficient(cost) ? cost : json();
}

}  // namespace mlrun::bench
