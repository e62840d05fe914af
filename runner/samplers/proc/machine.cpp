// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/machine.h"

#include <sched.h>

#include <algorithm>
#include <iterator>

#include "runner/samplers/proc/kernel_texts.h"
#include "runner/util/file_io.h"

namespace mlrun::proc {

namespace {

constexpr std::array kResources = {"cpu", "io", "memory"};

// Fields with a current value; all other fields are totals, whose increase is reported.
constexpr mlrun_machine_field kOfNow[] = {MLRUN_MACHINE_CPUS_ONLINE, MLRUN_MACHINE_CPUS_ALLOWED,
                                          MLRUN_MACHINE_CPU_QUOTA, MLRUN_MACHINE_RUNNING};

bool is_of_now(size_t field) { return std::find(std::begin(kOfNow), std::end(kOfNow), field) != std::end(kOfNow); }

int64_t allowed_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return MLRUN_NOT_KNOWN;  // the machine has more processors than a cpu_set_t
}

// Number of processors online: each has a line of its own.
int64_t processors_in(std::string_view stat) {
  constexpr std::string_view kBegin = "\ncpu";
  int64_t found = 0;
  for (size_t at = stat.find(kBegin); at != std::string_view::npos; at = stat.find(kBegin, at + kBegin.size())) ++found;
  return found;
}

std::string in_folder(const std::vector<std::string>& folders, const std::string& name) {
  return folders.empty() ? std::string() : folders.front() + "/" + name;
}

}  // namespace

Machine::Machine(const MachinePlaces& places, size_t command_cpus)
    : stat_(places.proc + "/stat"),
      is_version_1_(places.cgroup.is_version_1),
      command_cpus_(static_cast<int64_t>(command_cpus)),
      cgroup_(places.cgroup) {
  for (size_t i = 0; i < kResources.size(); ++i) {
    pressure_[i] = ProcFile(places.proc + "/pressure/" + kResources[i]);
    cgroup_pressure_[i] = ProcFile(in_folder(cgroup_.unified, std::string(kResources[i]) + ".pressure"));
  }
  if (const CpuLimit limit = find_cpu_limit(cgroup_); !limit.folder.empty())
    throttling_ = ProcFile(limit.folder + "/cpu.stat");
}

MachinePlaces Machine::places() {
  MachinePlaces places;
  places.cgroup = find_cgroup(util::read_text("/proc/self/cgroup"), util::read_text("/proc/self/mountinfo"));
  return places;
}

bool Machine::read_processors(Values& values) {
  constexpr size_t kTimesNeeded = 8;
  const std::string_view text = stat_.read(room_);
  const auto line = parse_cpu_line(text.substr(0, text.find('\n')));
  if (!line || line->times < kTimesNeeded) return false;
  const auto& ticks = line->ticks;
  const auto ns = [](uint64_t sum) { return static_cast<int64_t>(sum * tick_ns()); };
  values[MLRUN_MACHINE_USER_NS] = ns(ticks[0] + ticks[1]);
  values[MLRUN_MACHINE_SYSTEM_NS] = ns(ticks[2] + ticks[5] + ticks[6]);
  values[MLRUN_MACHINE_IDLE_NS] = ns(ticks[3]);
  values[MLRUN_MACHINE_IOWAIT_NS] = ns(ticks[4]);
  values[MLRUN_MACHINE_STEAL_NS] = ns(ticks[7]);
  uint64_t running = 0;
  if (number_after(text, "procs_running ", running)) values[MLRUN_MACHINE_RUNNING] = static_cast<int64_t>(running);
  values[MLRUN_MACHINE_CPUS_ONLINE] = processors_in(text);
  values[MLRUN_MACHINE_CPUS_ALLOWED] = command_cpus_ > 0 ? command_cpus_ : allowed_processors();
  return true;
}

void Machine::read_pressure(const ProcFile& file, mlrun_machine_field some, mlrun_machine_field full, Values& values) {
  const Pressure pressure = parse_pressure(file.read(room_));
  values[some] = pressure.some_ns.value_or(MLRUN_NOT_KNOWN);
  if (full != MLRUN_MACHINE_FIELDS) values[full] = pressure.full_ns.value_or(MLRUN_NOT_KNOWN);
}

void Machine::read_throttling(Values& values) {
  const std::string_view text = throttling_.read(room_);
  uint64_t value = 0;
  if (number_after(text, "nr_throttled ", value)) values[MLRUN_MACHINE_THROTTLED] = static_cast<int64_t>(value);
  const char* key = is_version_1_ ? "throttled_time " : "throttled_usec ";
  const int64_t unit_ns = is_version_1_ ? 1 : 1000;
  if (number_after(text, key, value)) values[MLRUN_MACHINE_THROTTLED_NS] = static_cast<int64_t>(value) * unit_ns;
}

bool Machine::read(Values& values) {
  values.fill(MLRUN_NOT_KNOWN);
  if (!read_processors(values)) return false;
  const int64_t limit = find_cpu_limit(cgroup_).thousandths;
  if (limit >= 0) values[MLRUN_MACHINE_CPU_QUOTA] = limit;
  // For the processors of the whole machine, the kernel leaves "full" undefined.
  read_pressure(pressure_[0], MLRUN_MACHINE_CPU_SOME_NS, MLRUN_MACHINE_FIELDS, values);
  read_pressure(pressure_[1], MLRUN_MACHINE_IO_SOME_NS, MLRUN_MACHINE_IO_FULL_NS, values);
  read_pressure(pressure_[2], MLRUN_MACHINE_MEMORY_SOME_NS, MLRUN_MACHINE_MEMORY_FULL_NS, values);
  read_pressure(cgroup_pressure_[0], MLRUN_MACHINE_CGROUP_CPU_SOME_NS, MLRUN_MACHINE_CGROUP_CPU_FULL_NS, values);
  read_pressure(cgroup_pressure_[1], MLRUN_MACHINE_CGROUP_IO_SOME_NS, MLRUN_MACHINE_CGROUP_IO_FULL_NS, values);
  read_pressure(cgroup_pressure_[2], MLRUN_MACHINE_CGROUP_MEMORY_SOME_NS, MLRUN_MACHINE_CGROUP_MEMORY_FULL_NS, values);
  read_throttling(values);
  return true;
}

std::optional<mlrun_machine_sample> Machine::sample(uint64_t now_ns) {
  Values now;
  if (!read(now)) return {};
  const Values before = std::exchange(before_, now);
  const uint64_t before_ns = std::exchange(before_ns_, now_ns);
  if (before_ns == 0) return {};
  mlrun_machine_sample sample{};
  sample.monotonic_ns = now_ns;
  sample.interval_ns = now_ns - before_ns;
  for (size_t field = 0; field < now.size(); ++field) {
    const bool has_both = now[field] != MLRUN_NOT_KNOWN && before[field] != MLRUN_NOT_KNOWN;
    sample.values[field] = is_of_now(field) ? now[field]
                           : has_both       ? std::max<int64_t>(0, now[field] - before[field])
                                            : MLRUN_NOT_KNOWN;
  }
  return sample;
}

}  // namespace mlrun::proc
