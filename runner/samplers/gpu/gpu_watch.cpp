// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/gpu_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::gpu {

namespace {

constexpr uint64_t kFirstSampleBackUs = 1'000'000;
constexpr int64_t kKib = 1024;

// Fields whose source is a monotonic counter.
constexpr mlrun_gpu_field kCounters[] = {
    MLRUN_GPU_ENERGY_MJ,     MLRUN_GPU_POWER_VIOLATION_NS, MLRUN_GPU_THERMAL_VIOLATION_NS, MLRUN_GPU_PCIE_RX_BYTES,
    MLRUN_GPU_PCIE_TX_BYTES, MLRUN_GPU_NVLINK_RX_BYTES,    MLRUN_GPU_NVLINK_TX_BYTES,
};

// Mean of the driver's samples of one process.
class MeanUse {
 public:
  void add(const NvmlUtilization& sample) {
    ++samples_;
    const int32_t values[] = {sample.sm, sample.mem, sample.enc, sample.dec, sample.jpg, sample.ofa};
    for (size_t i = 0; i < std::size(values); ++i) {
      if (values[i] < 0) continue;
      sums_[i] += values[i];
      ++counts_[i];
    }
  }
  void put(mlrun_gpu_process_sample& row) const {
    row.driver_samples = samples_;
    row.sm = mean(0);
    row.mem = mean(1);
    row.enc = mean(2);
    row.dec = mean(3);
    row.jpg = mean(4);
    row.ofa = mean(5);
  }

 private:
  [[nodiscard]] int32_t mean(size_t i) const { return counts_[i] == 0 ? -1 : (sums_[i] + counts_[i] / 2) / counts_[i]; }

  uint32_t samples_ = 0;
  int32_t sums_[6] = {}, counts_[6] = {};
};

// The NUMA node next to the GPU; -1: the firmware does not report it, or it has no memory.
int64_t node_next_to(const std::string& pci) {
  const auto node = util::whole_number<uint32_t>(util::read_line("/sys/bus/pci/devices/" + pci + "/numa_node"));
  const util::IdList with_memory = util::read_id_list("/sys/devices/system/node/has_memory");
  const bool has_memory = node && std::find(with_memory.begin(), with_memory.end(), *node) != with_memory.end();
  return has_memory ? int64_t{*node} : -1;
}

int64_t known(const Nvml::Number& number) { return number.value_or(MLRUN_NOT_KNOWN); }
int64_t known_bytes(int64_t bytes) { return bytes < 0 ? MLRUN_NOT_KNOWN : bytes; }

}  // namespace

GpuWatch::GpuWatch(std::unique_ptr<Nvml> nvml, bool fetches_samples) : nvml_(std::move(nvml)) {
  for (NvmlDevice& device : nvml_->devices()) {
    Gpu& gpu = gpus_.emplace_back();
    gpu.number = static_cast<uint32_t>(gpus_.size());
    gpu.metrics = std::make_unique<NvmlMetrics>(*nvml_, device);
    gpu.device = std::move(device);
    const uint64_t now_us = util::realtime_ns() / 1000;
    gpu.last_seen_us = now_us - kFirstSampleBackUs;
    if (fetches_samples && !gpu.device.is_mig) {
      gpu.samples = std::make_unique<DriverSamples>(*nvml_, gpu.device.handle, now_us);
    }
  }
}

std::vector<std::string> GpuWatch::describe() const {
  std::vector<std::string> texts;
  for (const Gpu& gpu : gpus_) {
    const NvmlDevice& device = gpu.device;
    nlohmann::json about = {{"number", gpu.number},
                            {"kind", device.is_mig ? "mig" : "gpu"},
                            {"index", device.index},
                            {"uuid", util::escaped_utf8(device.uuid)},
                            {"name", util::escaped_utf8(device.name)},
                            {"pci", device.pci},
                            {"memory_bytes", device.memory_bytes},
                            {"numa_node", node_next_to(device.pci)},
                            {"driver", util::escaped_utf8(nvml_->driver_version())},
                            {"gpm", gpu.metrics->supported()}};
    if (device.is_mig) {
      about["gpu_instance"] = device.gpu_instance;
      about["compute_instance"] = device.compute_instance;
      for (const Gpu& other : gpus_) {
        if (other.device.handle == device.parent) about["parent"] = other.number;
      }
    }
    texts.push_back(about.dump());
  }
  return texts;
}

std::vector<model::GpuSampler::NotSampled> GpuWatch::not_sampled() const {
  std::vector<model::GpuSampler::NotSampled> all;
  for (const Gpu& gpu : gpus_) {
    auto missing = gpu.samples ? gpu.samples->missing() : std::vector<std::string>();
    if (!missing.empty()) all.push_back({gpu.number, std::move(missing)});
  }
  return all;
}

void GpuWatch::read_device(Gpu& gpu, __s64* values) const {
  const Nvml& nvml = *nvml_;
  const nvml::Device device = gpu.device.handle;
  const Nvml::MemoryUse memory = nvml.memory_use(device);
  values[MLRUN_GPU_FB_USED] = known(memory.used);
  values[MLRUN_GPU_FB_FREE] = known(memory.free);
  gpu.metrics->read(values);
  if (gpu.device.is_mig) return;  // a MIG instance has no further values
  if (const auto rates = nvml.utilization(device)) {
    values[MLRUN_GPU_SM_PERCENT] = rates->gpu;
    values[MLRUN_GPU_MEM_PERCENT] = rates->memory;
  }
  values[MLRUN_GPU_ENC_PERCENT] = known(nvml.encoder_percent(device));
  values[MLRUN_GPU_DEC_PERCENT] = known(nvml.decoder_percent(device));
  values[MLRUN_GPU_JPG_PERCENT] = known(nvml.jpeg_percent(device));
  values[MLRUN_GPU_OFA_PERCENT] = known(nvml.optical_flow_percent(device));
  values[MLRUN_GPU_POWER_MW] = known(nvml.power_mw(device));
  values[MLRUN_GPU_ENERGY_MJ] = known(nvml.energy_mj(device));
  values[MLRUN_GPU_TEMPERATURE_C] = known(nvml.temperature_c(device));
  values[MLRUN_GPU_SM_CLOCK_MHZ] = known(nvml.clock_mhz(device, nvml::kClockSm));
  values[MLRUN_GPU_MEMORY_CLOCK_MHZ] = known(nvml.clock_mhz(device, nvml::kClockMemory));
  values[MLRUN_GPU_THROTTLE] = known(nvml.throttle_reasons(device));
  values[MLRUN_GPU_POWER_VIOLATION_NS] = known(nvml.violation_ns(device, nvml::kViolationPower));
  values[MLRUN_GPU_THERMAL_VIOLATION_NS] = known(nvml.violation_ns(device, nvml::kViolationThermal));
  values[MLRUN_GPU_BAR1_USED] = known(nvml.bar1_used(device));
  values[MLRUN_GPU_PROTECTED_USED] = known(nvml.protected_memory_used(device));
  values[MLRUN_GPU_ECC_CORRECTED] = known(nvml.ecc_errors(device, nvml::kEccCorrected));
  values[MLRUN_GPU_ECC_UNCORRECTED] = known(nvml.ecc_errors(device, nvml::kEccUncorrected));
  values[MLRUN_GPU_PCIE_REPLAYS] = known(nvml.pcie_replays(device));
  values[MLRUN_GPU_FAN_PERCENT] = known(nvml.fan_percent(device));
  values[MLRUN_GPU_PERFORMANCE_STATE] = known(nvml.performance_state(device));
  const auto fields = nvml.fields(device, {nvml::kFieldMemoryTemperature, nvml::kFieldPcieRxBytes,
                                           nvml::kFieldPcieTxBytes, nvml::kFieldNvlinkRxKib, nvml::kFieldNvlinkTxKib});
  values[MLRUN_GPU_MEMORY_TEMPERATURE_C] = known(fields[0]);
  values[MLRUN_GPU_PCIE_RX_BYTES] = known(fields[1]);
  values[MLRUN_GPU_PCIE_TX_BYTES] = known(fields[2]);
  values[MLRUN_GPU_NVLINK_RX_BYTES] = fields[3] ? *fields[3] * kKib : MLRUN_NOT_KNOWN;
  values[MLRUN_GPU_NVLINK_TX_BYTES] = fields[4] ? *fields[4] * kKib : MLRUN_NOT_KNOWN;
}

// The increase of a counter. One that decreased was reset, and its increase is unknown, but the driver's counters of PCIe have 32 bits.
int64_t increase(mlrun_gpu_field field, int64_t before, int64_t now) {
  constexpr int64_t kWrap = int64_t{1} << 32;
  if (now >= before) return now - before;
  const bool wraps = field == MLRUN_GPU_PCIE_RX_BYTES || field == MLRUN_GPU_PCIE_TX_BYTES;
  return wraps && before < kWrap ? now + kWrap - before : MLRUN_NOT_KNOWN;
}

// After unanswered samples the interval gets its share, by
// time, of the increase since the last answer.
void GpuWatch::keep_differences(Gpu& gpu, uint64_t now_ns, __s64* values) {
  for (const mlrun_gpu_field field : kCounters) {
    const int64_t now = values[field];
    if (now == MLRUN_NOT_KNOWN) continue;
    const Counter before = std::exchange(gpu.counters[field], {now, now_ns});
    values[field] = before.value != MLRUN_NOT_KNOWN ? increase(field, before.value, now) : MLRUN_NOT_KNOWN;
    if (values[field] == MLRUN_NOT_KNOWN || before.at_ns == gpu.before_ns) continue;
    const double share = static_cast<double>(now_ns - gpu.before_ns) / static_cast<double>(now_ns - before.at_ns);
    values[field] = std::llround(static_cast<double>(values[field]) * share);
  }
}

void GpuWatch::sample_processes(Gpu& gpu, uint64_t now_ns, uint64_t interval_ns, GpuRows& rows) {
  std::map<uint32_t, MeanUse> uses;
  for (const NvmlUtilization& sample : nvml_->process_utilization(gpu.device.handle, gpu.last_seen_us)) {
    uses[sample.pid].add(sample);
    gpu.last_seen_us = std::max(gpu.last_seen_us, sample.realtime_us);
  }
  std::vector<NvmlProcess> processes = nvml_->processes(gpu.device.handle);
  for (const auto& [pid, use] : uses) {
    const auto is_it = [pid = pid](const NvmlProcess& process) { return process.pid == pid; };
    if (std::none_of(processes.begin(), processes.end(), is_it)) processes.push_back({.pid = pid});
  }
  for (const NvmlProcess& process : processes) {
    mlrun_gpu_process_sample row{};
    row.monotonic_ns = now_ns;
    row.interval_ns = interval_ns;
    row.device = gpu.number;
    row.driver_pid = process.pid;
    row.use = process.use;
    row.gpu_instance = process.gpu_instance;
    row.compute_instance = process.compute_instance;
    row.fb_used = known_bytes(process.used);
    row.fb_protected = known_bytes(process.used_protected);
    uses[process.pid].put(row);
    rows.processes.push_back(row);
  }
}

void GpuWatch::sample(GpuRows& rows) {
  const size_t first_process = rows.processes.size();
  for (Gpu& gpu : gpus_) {
    mlrun_gpu_sample row{};
    std::fill(std::begin(row.values), std::end(row.values), MLRUN_NOT_KNOWN);
    const uint64_t now_ns = util::monotonic_ns();
    row.monotonic_ns = now_ns;
    row.interval_ns = gpu.before_ns == 0 ? 0 : now_ns - gpu.before_ns;
    row.device = gpu.number;
    read_device(gpu, row.values);
    keep_differences(gpu, now_ns, row.values);
    gpu.before_ns = now_ns;
    rows.gpus.push_back(row);
    if (gpu.samples) gpu.samples->fetch(gpu.number, rows.driver);
    if (!gpu.device.is_mig) sample_processes(gpu, now_ns, row.interval_ns, rows);
  }
  std::vector<uint32_t> driver_pids;
  for (size_t i = first_process; i < rows.processes.size(); ++i) driver_pids.push_back(rows.processes[i].driver_pid);
  const std::vector<GpuPid> pids = pids_.resolve(driver_pids, util::monotonic_ns());
  for (size_t i = 0; i < pids.size(); ++i) {
    rows.processes[first_process + i].pid = pids[i].pid;
    rows.processes[first_process + i].pid_source = pids[i].source;
  }
}

}  // namespace mlrun::gpu
