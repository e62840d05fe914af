// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/cost.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/session/host_facts.h"
#include "runner/util/clock.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"

namespace mlrun::bench {

namespace {

using nlohmann::json;

constexpr int kCostSchemaVersion = 1;
constexpr double kMostNs = 1e9;  // a call that costs more than this is a damaged file
constexpr std::array kIdentityKeys = {"host", "kernel", "cpu_model", "clock", "library"};
constexpr uint64_t kRetryNs = 3'600'000'000'000;  // after a measurement that was too noisy
constexpr Plan kQuickPlan = {true, 150'000, 0, 1, 1};

// Cost classes of calls and the operation that measures each; the first one that was measured counts.
struct CostClass {
  const char* name;
  std::array<const char*, 2> operations;
  const char* less;  // operation whose cost is included but belongs to another class, or null
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

// Empty: the variable names no folder that this user owns. Another user's (after su or sudo) is not used.
std::string own_folder(const char* variable) {
  const char* folder = std::getenv(variable);
  struct stat status {};
  if (folder == nullptr || *folder != '/') return {};
  if (::stat(folder, &status) == 0 && status.st_uid != ::geteuid()) return {};
  return folder;
}

std::string cache_folder() {
  if (const std::string cache = own_folder("XDG_CACHE_HOME"); !cache.empty()) return cache + "/mlrun";
  // Does not create a missing home: service accounts name one that must not exist.
  const std::string home = own_folder("HOME");
  struct stat status {};
  return home.empty() || ::stat(home.c_str(), &status) != 0 ? std::string() : home + "/.cache/mlrun";
}

Status make_cache_folder() {
  const std::string folder = cache_folder();
  if (folder.empty()) return fail("there is no cache folder of this user's (XDG_CACHE_HOME, HOME)");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("cannot make the folder " + folder + ": " + error.message());
  return {};
}

std::string cost_path(const json& identity) {
  const std::string folder = cache_folder();
  if (folder.empty()) return {};
  std::string all;
  for (const char* key : kIdentityKeys) all += identity.value(key, "") + '\n';
  return fmt::format("{}/cost-{:08x}.json", folder, util::crc32c(0, all.data(), all.size()));
}

// Under strace or a debugger every system call costs many times more.
bool is_stopped_by_a_tracer() {
  const std::string status = util::read_text("/proc/self/status", 8192);
  const size_t at = status.find("TracerPid:\t");
  return at != std::string::npos && status.compare(at, 13, "TracerPid:\t0\n") != 0;
}

bool is_recent(const json& cost) {
  const json measured = cost.value("measured_realtime_ns", json());
  return measured.is_number_unsigned() && util::realtime_ns() - measured.get<uint64_t>() < kRetryNs;
}

bool is_cost_of(const json& cost, const json& identity) {
  if (!cost.is_object() || cost.value("schema_version", json()) != kCostSchemaVersion) return false;
  for (const char* key : kIdentityKeys) {
    if (cost.value(key, json()) != identity.value(key, json(""))) return false;
  }
  const auto figures = cost.find("cost_per_call_ns");
  if (figures == cost.end() || !figures->is_object()) return false;
  return std::all_of(figures->begin(), figures->end(), [](const json& ns) {
    return ns.is_number() && ns.get<double>() >= 0 && ns.get<double>() < kMostNs;
  });
}

}  // namespace

json cost_identity(const std::string& library) {
  const json host = launch::host_facts();
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

json stored_cost(const json& identity) {
  const std::string path = cost_path(identity);
  if (path.empty()) return {};
  json cost = json::parse(util::read_text(path, 1 << 16), nullptr, false);
  return is_cost_of(cost, identity) ? cost : json();
}

bool can_store_cost() { return !cache_folder().empty(); }

Result<std::string> store_cost(const json& cost) {
  std::string path = cost_path(cost);
  if (Status folder = make_cache_folder(); !folder) return tl::make_unexpected(folder.error());
  if (Status written = util::write_atomically(path, cost.dump(2) + "\n", 0600); !written)
    return tl::make_unexpected(written.error());
  return path;
}

json find_cost(const Installed& installed, const Tell& tell) {
  const json identity = cost_identity(installed.library);
  json cost = stored_cost(identity);
  if (!cost.is_null() && is_sufficient(cost)) return cost;
  const bool in_vain = !cost.is_null() && is_recent(cost);
  if (in_vain || is_stopped_by_a_tracer() || !make_cache_folder()) return {};
  const auto measurement = measure(kQuickPlan, installed, tell);
  if (!measurement) return {};
  cost = make_cost(*measurement, identity, "quick");
  return store_cost(cost) && is_sufficient(cost) ? cost : json();
}

}  // namespace mlrun::bench
