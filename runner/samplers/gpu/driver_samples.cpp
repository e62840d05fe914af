// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/driver_samples.h"

#include <algorithm>

#include "runner/util/clock.h"
#include "runner/util/time_units.h"

namespace mlrun::gpu {

namespace {

constexpr uint64_t kAheadMaxUs = 1'000'000;

struct What {
  nvml::SamplingType type;
  const char* name;
  int64_t most;  // larger values are invalid; drivers report them for processes
};
// In the order of enum mlrun_gpu_driver_field.
constexpr std::array<What, MLRUN_GPU_DRIVER_FIELDS> kWhat = {{{nvml::kSamplePower, "power", 10'000'000},
                                                              {nvml::kSampleGpu, "use of the GPU", 100},
                                                              {nvml::kSampleMemory, "use of its memory", 100},
                                                              {nvml::kSampleSmClock, "SM clock", 100'000}}};

// One moment on both clocks.
struct Moment {
  uint64_t realtime_us = 0, monotonic_ns = 0;
};

// Reads several pairs and keeps the one whose two readings are closest, since the thread may be preempted between them.
Moment now() {
  constexpr int kTries = 4;
  Moment nearest;
  uint64_t least_ns = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before_ns = util::monotonic_ns(), realtime_ns = util::realtime_ns();
    const uint64_t apart_ns = util::monotonic_ns() - before_ns;
    if (apart_ns >= least_ns) continue;
    least_ns = apart_ns;
    nearest = {realtime_ns / util::kNsPerUs, before_ns + apart_ns / 2};
  }
  return nearest;
}

}  // namespace

DriverSamples::DriverSamples(const Nvml& nvml, nvml::Device device, uint64_t since_us) : nvml_(nvml), device_(device) {
  for (Kind& kind : kinds_) kind.last_seen_us = since_us;
}

// The driver's times are on CLOCK_REALTIME. If that clock is set, only samples of the last milliseconds get a wrong time.
void DriverSamples::fetch(uint32_t number, std::vector<mlrun_gpu_driver_sample>& rows) {
  const size_t first = rows.size();
  for (size_t field = 0; field < kinds_.size(); ++field) {
    Kind& kind = kinds_[field];
    if (kind.is_missing) continue;
    const auto samples = nvml_.samples(device_, kWhat[field].type, kind.last_seen_us);
    kind.is_missing = !samples;
    if (!samples) continue;
    const Moment moment = now();
    const uint64_t before_us = kind.last_seen_us;
    for (const NvmlSample& sample : *samples) {
      const bool is_new = sample.realtime_us > before_us && sample.realtime_us <= moment.realtime_us + kAheadMaxUs;
      if (!is_new || sample.value < 0 || sample.value > kWhat[field].most) continue;
      kind.last_seen_us = std::max(kind.last_seen_us, sample.realtime_us);
      const uint64_t at_ns =
          moment.monotonic_ns + (sample.realtime_us - moment.realtime_us) * util::kNsPerUs;  // negative: wraps around
      rows.push_back({at_ns, number, static_cast<__u32>(field), sample.value});
    }
  }
  std::stable_sort(rows.begin() + static_cast<ptrdiff_t>(first), rows.end(),
                   [](const auto& a, const auto& b) { return a.monotonic_ns < b.monotonic_ns; });
}

std::vector<std::string> DriverSamples::missing() const {
  std::vector<std::string> names;
  for (size_t field = 0; field < kinds_.size(); ++field) {
    if (kinds_[field].is_missing) names.emplace_back(kWhat[field].name);
  }
  return names;
}

}  // namespace mlrun::gpu
