// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/machine_state.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/time_units.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

// The number after `name` at the start of a line; 0: none.
uint64_t number_after(const std::string& text, const std::string& name) {
  const size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + name.size() + (at == 0 && text.starts_with(name) ? 0 : 1), nullptr, 10);
}

void read_stall(const char* resource, std::map<std::string, uint64_t>& stall_us) {
  std::istringstream lines(util::read_text(fmt::format("/proc/pressure/{}", resource), 4096));
  for (std::string line; std::getline(lines, line);) {
    const size_t total = line.find("total=");
    if (total == std::string::npos) continue;
    const std::string kind = line.substr(0, line.find(' '));
    stall_us[fmt::format("{}_{}", resource, kind)] = std::strtoull(line.c_str() + total + 6, nullptr, 10);
  }
}

// What a run can get from each node before its pages go elsewhere, or others' pages are dropped.
void add_node_memory(const std::string& system, Figures& machine) {
  const std::string nodes = system + "/devices/system/node/";
  for (const uint32_t node : util::read_id_list(nodes + "has_memory")) {
    const std::string meminfo = util::read_text(fmt::format("{}node{}/meminfo", nodes, node), 16384);
    const std::string name = fmt::format("Node {} MemFree:", node);
    if (meminfo.find(name) == std::string::npos) continue;
    machine[fmt::format("node_{}_free_bytes", node)] = static_cast<double>(number_after(meminfo, name)) * 1024;
  }
}

// The temperature of the hottest zone.
void add_temperature(const std::string& system, Figures& machine) {
  std::error_code error;
  double hottest = -1;
  for (const auto& zone : fs::directory_iterator(system + "/class/thermal", error)) {
    const std::string text = util::read_line(zone.path() / "temp");
    if (!text.empty()) hottest = std::max(hottest, std::strtod(text.c_str(), nullptr) / 1000);
  }
  if (hottest > 0) machine["temperature_c"] = hottest;
}

// The mean frequency of all CPUs.
void add_frequency(const std::string& system, Figures& machine) {
  double sum_hz = 0;
  int cpus = 0;
  for (long cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_CONF); ++cpu) {
    const std::string khz =
        util::read_line(fmt::format("{}/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", system, cpu));
    if (khz.empty()) continue;
    sum_hz += std::strtod(khz.c_str(), nullptr) * 1000;
    ++cpus;
  }
  if (cpus > 0) machine["frequency_hz"] = sum_hz / cpus;
}

// The chosen one of "always [madvise] never".
std::string chosen_word(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

std::string turbo_word() {
  const std::string no_turbo = util::read_line("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (!no_turbo.empty()) return no_turbo == "0" ? "on" : "off";
  const std::string boost = util::read_line("/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.empty()) return boost == "1" ? "on" : "off";
  return {};
}

}  // namespace

MachineCounters read_machine_counters() {
  MachineCounters counters;
  counters.monotonic_ns = util::monotonic_ns();
  std::istringstream first(util::read_line("/proc/stat"));
  std::string name;
  std::array<uint64_t, 8> ticks{};  // user, nice, system, idle, iowait, irq, softirq, steal
  first >> name;
  for (uint64_t& one : ticks) first >> one;
  counters.busy_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
  counters.iowait_ticks = ticks[4];
  counters.steal_ticks = ticks[7];
  const std::string vmstat = util::read_text("/proc/vmstat", 65536);
  counters.swapped_pages = number_after(vmstat, "pswpin ") + number_after(vmstat, "pswpout ");
  for (const char* resource : {"cpu", "io", "memory"}) read_stall(resource, counters.stall_us);
  return counters;
}

void add_machine_now(Figures& machine, const std::string& system) {
  if (const std::string load = util::read_line("/proc/loadavg"); !load.empty())
    machine["load_1m"] = std::strtod(load.c_str(), nullptr);
  const std::string meminfo = util::read_text("/proc/meminfo", 16384);
  machine["memory_available_bytes"] = static_cast<double>(number_after(meminfo, "MemAvailable:")) * 1024;
  add_node_memory(system, machine);
  add_temperature(system, machine);
  add_frequency(system, machine);
}

void add_machine_between(const MachineCounters& from, const MachineCounters& to, double run_cpu_s, Figures& machine) {
  const double seconds = util::in_seconds(to.monotonic_ns - from.monotonic_ns);
  const double all_s = seconds * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (all_s <= 0) return;
  const auto tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto share = [&](uint64_t before, uint64_t after) {
    return after > before ? std::min(1.0, static_cast<double>(after - before) * tick_s / all_s) : 0.0;
  };
  machine["steal_share"] = share(from.steal_ticks, to.steal_ticks);
  machine["iowait_share"] = share(from.iowait_ticks, to.iowait_ticks);
  machine["other_cpu_share"] = std::max(0.0, share(from.busy_ticks, to.busy_ticks) - run_cpu_s / all_s);
  machine["swapped_bytes"] =
      static_cast<double>(to.swapped_pages - from.swapped_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  for (const auto& [name, us] : to.stall_us) {
    const auto before = from.stall_us.find(name);
    if (before == from.stall_us.end() || us < before->second) continue;
    machine[fmt::format("stall_{}_share", name)] = static_cast<double>(us - before->second) / 1e6 / seconds;
  }
}

std::map<std::string, std::string> machine_facts() {
  utsname names{};
  ::uname(&names);
  std::map<std::string, std::string> facts = {
      {"governor", util::read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
      {"turbo", turbo_word()},
      {"thp", chosen_word(util::read_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"numa_balancing", util::read_line("/proc/sys/kernel/numa_balancing")},
      {"aslr", util::read_line("/proc/sys/kernel/randomize_va_space")},
      {"kernel", names.release},
      {"cpus", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))}};
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

}  // namespace mlrun::sweep
