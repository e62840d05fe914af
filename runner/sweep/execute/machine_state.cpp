// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/machine_state.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "runner/samplers/proc/kernel_texts.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/time_units.h"

namespace mlrun::sweep {

namespace {

namespace fs = std::filesystem;

// 0: none.
uint64_t number_after(std::string_view text, std::string_view key) {
  uint64_t number = 0;
  return proc::number_after(text, key, number) ? number : 0;
}

void read_stall(const std::string& resource, std::map<std::string, int64_t>& stall_ns) {
  const proc::Pressure pressure = proc::parse_pressure(util::read_text("/proc/pressure/" + resource, 4096));
  if (pressure.some_ns) stall_ns[resource + "_some"] = *pressure.some_ns;
  if (pressure.full_ns) stall_ns[resource + "_full"] = *pressure.full_ns;
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
  const auto ticks = proc::parse_cpu_line(util::read_line("/proc/stat")).value_or(proc::CpuLine()).ticks;
  counters.busy_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
  counters.iowait_ticks = ticks[4];
  counters.steal_ticks = ticks[7];
  const std::string vmstat = util::read_text("/proc/vmstat", 65536);
  counters.swapped_pages = number_after(vmstat, "pswpin ") + number_after(vmstat, "pswpout ");
  for (const char* resource : {"cpu", "io", "memory"}) read_stall(resource, counters.stall_ns);
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
  for (const auto& [name, ns] : to.stall_ns) {
    const auto before = from.stall_ns.find(name);
    if (before == from.stall_ns.end() || ns < before->second) continue;
    machine[fmt::format("stall_{}_share", name)] = util::in_seconds(ns - before->second) / seconds;
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
