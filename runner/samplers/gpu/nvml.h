// SPDX-License-Identifier: Apache-2.0
// NVML, the driver's management library, loaded on demand: mlrun is not linked with it. Uses the newest version of each
// function that the driver has. Values that a GPU or driver does not provide are empty.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/samplers/gpu/nvml_abi.h"
#include "runner/util/result.h"

namespace mlrun::gpu {

struct NvmlFunctions;

// A GPU, or a MIG instance of one.
struct NvmlDevice {
  nvml::Device handle = nullptr;
  unsigned index = 0;  // NVML's index of the GPU
  std::string uuid, name, pci;
  int64_t memory_bytes = -1;
  bool is_mig = false;
  int32_t gpu_instance = -1, compute_instance = -1;
  nvml::Device parent = nullptr;
};

struct NvmlProcess {
  uint32_t pid = 0;
  uint32_t use = 0;  // bits of enum mlrun_gpu_use
  int32_t gpu_instance = -1, compute_instance = -1;
  int64_t used = -1, used_protected = -1;
};

struct NvmlUtilization {
  uint32_t pid = 0;
  uint64_t realtime_us = 0;
  int32_t sm = -1, mem = -1, enc = -1, dec = -1, jpg = -1, ofa = -1;
};

// One of the driver's own samples.
struct NvmlSample {
  uint64_t realtime_us = 0;
  int64_t value = 0;
};

namespace nvml {
// A value of an NVML type as a number; nullopt: unknown type.
std::optional<int64_t> number(int type, const Value& value);
}  // namespace nvml

class Nvml {
 public:
  // Loads and initialises NVML. The error is one line that says why no GPU can be sampled.
  static Result<std::unique_ptr<Nvml>> open();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::string driver_version() const;
  // All GPUs in the order of their index, each followed by its MIG instances. Leaves out GPUs that cannot be opened.
  [[nodiscard]] std::vector<NvmlDevice> devices() const;

  using Number = std::optional<int64_t>;
  [[nodiscard]] std::optional<nvml::Utilization> utilization(nvml::Device device) const;
  [[nodiscard]] Number encoder_percent(nvml::Device device) const;
  [[nodiscard]] Number decoder_percent(nvml::Device device) const;
  [[nodiscard]] Number jpeg_percent(nvml::Device device) const;
  [[nodiscard]] Number optical_flow_percent(nvml::Device device) const;
  [[nodiscard]] Number power_mw(nvml::Device device) const;
  [[nodiscard]] Number energy_mj(nvml::Device device) const;
  [[nodiscard]] Number temperature_c(nvml::Device device) const;
  [[nodiscard]] Number clock_mhz(nvml::Device device, nvml::ClockType type) const;
  [[nodiscard]] Number throttle_reasons(nvml::Device device) const;
  [[nodiscard]] Number violation_ns(nvml::Device device, int policy) const;
  struct MemoryUse {
    Number used, free;
  };
  [[nodiscard]] MemoryUse memory_use(nvml::Device device) const;
  [[nodiscard]] Number protected_memory_used(nvml::Device device) const;
  [[nodiscard]] Number memory_total(nvml::Device device) const;
  [[nodiscard]] Number bar1_used(nvml::Device device) const;
  [[nodiscard]] Number ecc_errors(nvml::Device device, int kind) const;
  [[nodiscard]] Number pcie_replays(nvml::Device device) const;
  [[nodiscard]] Number fan_percent(nvml::Device device) const;
  [[nodiscard]] Number performance_state(nvml::Device device) const;
  // One call for all fields; empty if the GPU lacks the field.
  [[nodiscard]] std::vector<Number> fields(nvml::Device device, const std::vector<nvml::Field>& wanted) const;

  // The driver's samples after `last_seen_us` (CLOCK_REALTIME), possibly with older ones; nullopt: the driver does not
  // sample this value of this GPU.
  [[nodiscard]] std::optional<std::vector<NvmlSample>> samples(nvml::Device device, nvml::SamplingType type,
                                                               uint64_t last_seen_us) const;

  // Processes with a context on the GPU. Not for MIG instances: the GPU's list has their processes.
  [[nodiscard]] std::vector<NvmlProcess> processes(nvml::Device device) const;
  // The driver's process samples after `last_seen_us` (CLOCK_REALTIME).
  [[nodiscard]] std::vector<NvmlUtilization> process_utilization(nvml::Device device, uint64_t last_seen_us) const;

  [[nodiscard]] const NvmlFunctions& functions() const { return *functions_; }

 private:
  explicit Nvml(std::unique_ptr<NvmlFunctions> functions);
  [[nodiscard]] std::optional<NvmlDevice> device(unsigned index) const;
  void add_instances(const NvmlDevice& gpu, std::vector<NvmlDevice>& devices) const;

  std::unique_ptr<NvmlFunctions> functions_;
  mutable std::map<std::pair<nvml::Device, int>, unsigned> sample_room_;  // entries of the driver's sample rings
};

}  // namespace mlrun::gpu
