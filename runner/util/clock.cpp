// SPDX-License-Identifier: Apache-2.0
#include "runner/util/clock.h"

#include <dlfcn.h>

#include <array>
#include <ctime>
#include <sstream>

#include "runner/util/file_io.h"
#include "runner/util/time_units.h"

namespace mlrun::util {

namespace {

// Looks only at the first CPU's flags: all CPUs have the same ones if the kernel trusts the time stamp counter.
bool has_cpu_flag(const std::string& cpuinfo, const std::string& flag) {
  const size_t line = cpuinfo.find("\nflags");
  if (line == std::string::npos) return false;
  std::istringstream words(cpuinfo.substr(line + 1, cpuinfo.find('\n', line + 1) - line - 1));
  for (std::string word; words >> word;) {
    if (word == flag) return true;
  }
  return false;
}

using ClockFunction = int (*)(clockid_t, timespec*);

ClockFunction clock_of_libc() {
  void* libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* found = libc != nullptr ? ::dlsym(libc, "clock_gettime") : nullptr;
  return found != nullptr ? reinterpret_cast<ClockFunction>(found) : ::clock_gettime;
}

}  // namespace

uint64_t clock_ns(clockid_t clock) {
  static const ClockFunction kFunction = clock_of_libc();
  timespec now{};
  kFunction(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * uint64_t{kNsPerS} + static_cast<uint64_t>(now.tv_nsec);
}

std::string utc_text(int64_t realtime_ns) {
  const time_t seconds = realtime_ns / kNsPerS;
  std::tm utc{};
  std::array<char, 32> text{};
  ::gmtime_r(&seconds, &utc);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

ClockChoice choose_clock() {
  const std::string source = read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source != "tsc") return {MLRUN_CLOCK_MONOTONIC, "the kernel's clock source is '" + source + "', not tsc"};
  const std::string cpuinfo = read_text("/proc/cpuinfo", 65536);
  for (const char* flag : {"constant_tsc", "nonstop_tsc"}) {
    if (!has_cpu_flag(cpuinfo, flag)) return {MLRUN_CLOCK_MONOTONIC, std::string("the processor lacks ") + flag};
  }
  return {MLRUN_CLOCK_TSC, {}};
}

}  // namespace mlrun::util
