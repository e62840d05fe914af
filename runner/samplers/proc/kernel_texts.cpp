// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/kernel_texts.h"

#include <unistd.h>

#include <algorithm>

#include "runner/util/clock.h"
#include "runner/util/number.h"
#include "runner/util/time_units.h"

namespace mlrun::proc {

uint64_t tick_ns() {
  static const uint64_t kTickNs = util::kNsPerS / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return kTickNs;
}

std::optional<CpuLine> parse_cpu_line(std::string_view line) {
  if (!line.starts_with("cpu")) return {};
  CpuLine found;
  line.remove_prefix(3);
  const size_t name_end = line.find(' ');
  if (name_end == std::string_view::npos) return {};
  if (name_end != 0) {
    const auto cpu = util::whole_number<int32_t>(line.substr(0, name_end));
    if (!cpu) return {};
    found.cpu = *cpu;
  }
  Numbers numbers(line.substr(name_end));
  while (found.times < CpuLine::kTimes && numbers.next(found.ticks[found.times])) ++found.times;
  return found.times < 4 ? std::nullopt : std::optional(found);
}

// some avg10=0.00 avg60=0.00 avg300=0.00 total=12345   in microseconds
// full avg10=...                                       missing for processors on older kernels
Pressure parse_pressure(std::string_view text) {
  Pressure pressure;
  for_each_line(text, [&](std::string_view line) {
    uint64_t total_us = 0;
    if (!number_after(line, "total=", total_us)) return;
    const auto ns = static_cast<int64_t>(total_us * 1000);
    if (line.starts_with("some ")) pressure.some_ns = ns;
    if (line.starts_with("full ")) pressure.full_ns = ns;
  });
  return pressure;
}

// 4711 (name) S 1 4711 ... : the name is followed by field 3, the state. A name may contain spaces and brackets.
std::optional<StatLine> parse_stat(std::string_view text) {
  constexpr int kMinflt = 10, kMajflt = 12, kUser = 14, kSystem = 15, kThreads = 20, kStart = 22, kRss = 24;
  constexpr int kProcessor = 39;
  const size_t name = text.find('('), end = text.rfind(')');
  if (name == std::string_view::npos || end == std::string_view::npos || end < name || end + 2 >= text.size())
    return {};
  StatLine line;
  line.comm = text.substr(name + 1, end - name - 1);
  line.state = text[end + 2];
  std::string_view rest = text.substr(end + 3);
  for (int field = 4; field <= kProcessor; ++field) {
    const size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return field > kRss ? std::optional(line) : std::nullopt;
    rest.remove_prefix(begin);
    uint64_t* const to = field == kMinflt      ? &line.minflt
                         : field == kMajflt    ? &line.majflt
                         : field == kUser      ? &line.user_ticks
                         : field == kSystem    ? &line.system_ticks
                         : field == kThreads   ? &line.threads
                         : field == kStart     ? &line.start_ticks
                         : field == kRss       ? &line.rss_pages
                         : field == kProcessor ? &line.processor
                                               : nullptr;
    if (to && !Numbers(rest).next(*to)) return {};
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  return line;
}

uint64_t monotonic_of_ticks(uint64_t ticks) {
  const uint64_t boot_ns = util::boottime_ns(), now_ns = util::monotonic_ns();
  const uint64_t ns = ticks * tick_ns(), slept_ns = boot_ns - std::min(boot_ns, now_ns);
  return ns - std::min(ns, slept_ns);
}

}  // namespace mlrun::proc
