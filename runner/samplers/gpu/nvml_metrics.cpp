// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/nvml_metrics.h"

#include <cmath>
#include <utility>

#include "runner/events/gpu_sample.h"
#include "runner/samplers/gpu/nvml_functions.h"

namespace mlrun::gpu {

namespace {

constexpr unsigned kVersion = 1;
constexpr double kPpmPerPercent = 10'000, kPercentMax = 100;
constexpr std::pair<nvml::GpmId, mlrun_gpu_field> kMetrics[] = {
    {nvml::kGpmGraphics, MLRUN_GPU_GRAPHICS_PPM},
    {nvml::kGpmSmActive, MLRUN_GPU_SM_ACTIVE_PPM},
    {nvml::kGpmSmOccupancy, MLRUN_GPU_SM_OCCUPANCY_PPM},
    {nvml::kGpmTensor, MLRUN_GPU_TENSOR_PPM},
    {nvml::kGpmDram, MLRUN_GPU_DRAM_PPM},
};

}  // namespace

NvmlMetrics::NvmlMetrics(const Nvml& nvml, const NvmlDevice& device)
    : functions_(nvml.functions()), device_(device), metrics_(std::make_unique<nvml::GpmMetrics>()) {
  const NvmlFunctions& f = functions_;
  const nvml::Device gpu = device.is_mig ? device.parent : device.handle;
  nvml::GpmSupport support{kVersion, 0};
  const bool complete = f.gpm_support && f.gpm_alloc && f.gpm_free && f.gpm_sample && f.gpm_metrics;
  if (!complete || (device.is_mig && !f.gpm_mig_sample)) return;
  if (f.gpm_support(gpu, &support) != nvml::kSuccess || support.supported == 0) return;
  for (void*& sample : samples_) {
    if (f.gpm_alloc(&sample) != nvml::kSuccess) sample = nullptr;
  }
  if (samples_[0] && !samples_[1]) f.gpm_free(std::exchange(samples_[0], nullptr));
}

NvmlMetrics::~NvmlMetrics() {
  for (void* sample : samples_) {
    if (sample) functions_.gpm_free(sample);
  }
}

bool NvmlMetrics::take(void* sample) const {
  if (!device_.is_mig) return functions_.gpm_sample(device_.handle, sample) == nvml::kSuccess;
  return device_.gpu_instance >= 0 &&
         functions_.gpm_mig_sample(device_.parent, static_cast<unsigned>(device_.gpu_instance), sample) ==
             nvml::kSuccess;
}

void NvmlMetrics::read(__s64* fields) {
  if (!supported()) return;
  if (!take(samples_[1])) {
    has_before_ = false;
    return;
  }
  if (has_before_) {
    metrics_->version = kVersion;
    metrics_->count = std::size(kMetrics);
    metrics_->sample1 = samples_[0];
    metrics_->sample2 = samples_[1];
    for (size_t i = 0; i < std::size(kMetrics); ++i) metrics_->metrics[i].id = kMetrics[i].first;
    if (functions_.gpm_metrics(metrics_.get()) == nvml::kSuccess) {
      for (size_t i = 0; i < std::size(kMetrics); ++i) {
        const nvml::GpmMetric& metric = metrics_->metrics[i];
        const bool is_share = metric.value >= 0 && metric.value <= kPercentMax;
        if (metric.result == nvml::kSuccess && is_share) {
          fields[kMetrics[i].second] = std::llround(metric.value * kPpmPerPercent);
        }
      }
    }
  }
  std::swap(samples_[0], samples_[1]);
  has_before_ = true;
}

}  // namespace mlrun::gpu
