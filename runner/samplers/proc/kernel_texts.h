// SPDX-License-Identifier: Apache-2.0
// Parses lines of /proc that several samplers read. All string views in results refer to the text that was passed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runner/samplers/proc/proc_file.h"

namespace mlrun::proc {

// Length of the clock tick, the unit of times in /proc/stat and /proc/PID/stat.
uint64_t tick_ns();

// "cpu" or "cpuN" and its times in clock ticks, in the order of /proc/stat: user nice system idle iowait irq softirq
// steal guest guest_nice. Guests' time is included in user and nice. Older kernels have fewer times; `times` is their number.
struct CpuLine {
  static constexpr size_t kTimes = 10;
  int32_t cpu = -1;  // -1: sum of all processors
  size_t times = 0;
  std::array<uint64_t, kTimes> ticks{};
};
// nullopt: the line is not about processors.
std::optional<CpuLine> parse_cpu_line(std::string_view line);

// Pressure stall information: time in which some, or all, of the threads that were not idle waited.
struct Pressure {
  std::optional<int64_t> some_ns, full_ns;
};
Pressure parse_pressure(std::string_view text);

// /proc/PID/stat or /proc/PID/task/TID/stat.
struct StatLine {
  std::string_view comm;
  char state = 0;
  uint64_t minflt = 0, majflt = 0, user_ticks = 0, system_ticks = 0, threads = 0, start_ticks = 0, rss_pages = 0;
  uint64_t processor = 0;
};
std::optional<StatLine> parse_stat(std::string_view text);

// Converts a start time in clock ticks to CLOCK_MONOTONIC. The ticks are those of CLOCK_BOOTTIME, which also counts while
// the machine is suspended.
uint64_t monotonic_of_ticks(uint64_t ticks);

// Calls `visit` with each line, without the newline.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

}  // namespace mlrun::proc
