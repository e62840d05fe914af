// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/gpu/gpu_meter.h"

#include <algorithm>
#include <cmath>

#include "runner/util/saturating.h"

namespace mlrun::summary {
namespace {

constexpr int64_t kPpmPerPercent = 10'000, kPercentMax = 100;

void add_up(int64_t value, int64_t& sum) {
  if (value != MLRUN_NOT_KNOWN) sum = util::sum_of(std::max<int64_t>(sum, 0), value);
}
void keep_highest(int64_t value, int64_t& highest) {
  if (value != MLRUN_NOT_KNOWN) highest = std::max(highest, value);
}
// Returns unknown for shares above 100 %.
int64_t ppm(int64_t percent) {
  return percent < 0 || percent > kPercentMax ? MLRUN_NOT_KNOWN : percent * kPpmPerPercent;
}

}  // namespace

void GpuMeter::Mean::add(int64_t value, int64_t over_ns) {
  if (value == MLRUN_NOT_KNOWN) return;
  sum += double(value) * double(over_ns);
  util::add_to(ns, over_ns);
}

int64_t GpuMeter::Mean::get() const {
  constexpr double kLargest = 9e18;  // largest that fits an int64_t
  return ns == 0 ? -1 : std::llround(std::clamp(sum / double(ns), -kLargest, kLargest));
}

void GpuMeter::add(const mlrun_gpu_sample& sample) {
  Gpu& gpu = gpus_[sample.device];
  GpuSummary& sums = gpu.sums;
  const __s64* values = sample.values;
  const auto over_ns = int64_t(std::min<uint64_t>(sample.interval_ns, INT64_MAX / 4));
  ++sums.samples;
  util::add_to(sums.observed_ns, over_ns);
  gpu.sm.add(ppm(values[MLRUN_GPU_SM_PERCENT]), over_ns);
  gpu.mem.add(ppm(values[MLRUN_GPU_MEM_PERCENT]), over_ns);
  gpu.power.add(values[MLRUN_GPU_POWER_MW], over_ns);
  gpu.sm_active.add(values[MLRUN_GPU_SM_ACTIVE_PPM], over_ns);
  gpu.tensor.add(values[MLRUN_GPU_TENSOR_PPM], over_ns);
  gpu.dram.add(values[MLRUN_GPU_DRAM_PPM], over_ns);
  keep_highest(values[MLRUN_GPU_FB_USED], sums.fb_peak_bytes);
  keep_highest(values[MLRUN_GPU_POWER_MW], sums.power_peak_mw);
  keep_highest(values[MLRUN_GPU_TEMPERATURE_C], sums.temperature_peak_c);
  add_up(values[MLRUN_GPU_ENERGY_MJ], sums.energy_mj);
  add_up(values[MLRUN_GPU_PCIE_RX_BYTES], sums.pcie_rx_bytes);
  add_up(values[MLRUN_GPU_PCIE_TX_BYTES], sums.pcie_tx_bytes);
  add_up(values[MLRUN_GPU_NVLINK_RX_BYTES], sums.nvlink_rx_bytes);
  add_up(values[MLRUN_GPU_NVLINK_TX_BYTES], sums.nvlink_tx_bytes);
  const int64_t throttle = values[MLRUN_GPU_THROTTLE];
  if (throttle != MLRUN_NOT_KNOWN) add_up((throttle & ~kHarmlessThrottle) != 0 ? over_ns : 0, sums.throttled_ns);
}

std::vector<GpuSummary> GpuMeter::finish(const std::vector<model::GpuRow>& gpus) const {
  std::vector<GpuSummary> out;
  for (const model::GpuRow& device : gpus) {
    const auto found = gpus_.find(uint32_t(device.gpu_id));
    if (found == gpus_.end()) continue;
    const Gpu& gpu = found->second;
    GpuSummary& summary = out.emplace_back(gpu.sums);
    summary.gpu_id = device.gpu_id;
    summary.kind = device.kind;
    summary.index = device.index;
    summary.name = device.name;
    summary.uuid = device.uuid;
    summary.memory_bytes = device.memory_bytes;
    summary.busy_ppm = gpu.sm.get();
    summary.memory_busy_ppm = gpu.mem.get();
    summary.power_mean_mw = gpu.power.get();
    summary.sm_active_ppm = gpu.sm_active.get();
    summary.tensor_ppm = gpu.tensor.get();
    summary.dram_ppm = gpu.dram.get();
  }
  return out;
}

}  // namespace mlrun::summary
