// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/cpu_source.h"

#include <algorithm>

#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::machine {

namespace {

// In the order of enum mlrun_cpu_field, which is that of /proc/stat; times that the kernel lacks are unknown.
auto values_of(const proc::CpuLine& line) {
  auto values = Differences<int32_t, mlrun_cpu_sample>::unknown();
  for (size_t i = 0; i < line.times; ++i) values[i] = static_cast<int64_t>(line.ticks[i] * proc::tick_ns());
  const auto take_from = [&](mlrun_cpu_field field, mlrun_cpu_field guests) {
    if (values[guests] != MLRUN_NOT_KNOWN) values[field] = std::max<int64_t>(0, values[field] - values[guests]);
  };
  take_from(MLRUN_CPU_USER_NS, MLRUN_CPU_GUEST_NS);
  take_from(MLRUN_CPU_NICE_NS, MLRUN_CPU_GUEST_NICE_NS);
  return values;
}
static_assert(MLRUN_CPU_FIELDS == proc::CpuLine::kTimes);

}  // namespace

CpuSource::CpuSource(const Places& places) : stat_(places.proc + "/stat") {}

std::vector<std::string> CpuSource::problems() const {
  if (works()) return {};
  return {"/proc/stat cannot be opened: no samples of processors"};
}

void CpuSource::sample(uint64_t now_ns, Batch& batch) {
  differences_.begin(now_ns);
  std::string_view text = stat_.read(room_);
  for (; text.starts_with("cpu"); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1)) {
    const auto line = proc::parse_cpu_line(text.substr(0, text.find('\n')));
    if (!line || line->cpu < 0) continue;
    mlrun_cpu_sample sample{};
    sample.cpu = static_cast<__u32>(line->cpu);
    if (differences_.step(line->cpu, values_of(*line), sample)) batch.add(MLRUN_SAMPLE_CPU, sample);
  }
  differences_.end();
}

}  // namespace mlrun::machine
