// SPDX-License-Identifier: Apache-2.0
// NVML, the driver's management library, loaded when it is needed: mlrun is not linked with it. Of every function that
// exists in several versions the newest one that the driver has is taken. What a GPU or a driver does not tell is empty.
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

// A GPU, or one of the instances that it is divided into.
struct NvmlDevice {
  nvml::Device handle = nullptr;
  unsigned index = 0;  // of the GPU
  std::string uuid, name, pci;
  int64_t memory_bytes = -1;
  bool is_mig = false;
  int32_t gpu_instance = -1, compute_instance = -1;
  nvml::Device parent = nullptr;
};

struct NvmlProcess {
  uint32_t pid = 0;
  uint32_t use = 0;  // enum mlrun_gpu_use bits
  int32_t gpu_instance = -1, compute_instance = -1;
  int64_t used = -1, used_protected = -1;
};

struct NvmlUtilization {
  uint32_t pid = 0;
  uint64_t realtime_us = 0;
  int32_t sm = -1, mem = -1, enc = -1, dec = -1, jpg = -1, ofa = -1;
};

// Of the driver's own.
struct NvmlSample {
  uint64_t realtime_us = 0;
  int64_t value = 0;
};

namespace nvml {
// A value of one of the types that NVML has; nothing: of a type that this version does not know.
std::optional<int64_t> number(int type, const Value& value);
}  // namespace nvml

class Nvml {
 public:
  // Loads and starts it. The error is one line that says why there are no GPUs to look at.
  static Result<std::unique_ptr<Nvml>> open();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::string driver_version() const;
  // All GPUs in the order of their index, the instances of a divided one behind it. A GPU that cannot be opened is
  // left out.
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
  // One call for all of them; empty where the GPU has no such field.
  [[nodiscard]] std::vector<Number> fields(nvml::Device device, const std::vector<nvml::Field>& wanted) const;

  // What the driver sampled after `last_seen_us` (CLOCK_REALTIME), and what it may tell besides; nothing: it samples no such
  // thing of this GPU.
  [[nodiscard]] std::optional<std::vector<NvmlSample>> samples(nvml::Device device, nvml::SamplingType type,
                                                               uint64_t last_seen_us) const;

  // Processes with a context on the GPU. Not for instances: their processes are in the GPU's list.
  [[nodiscard]] std::vector<NvmlProcess> processes(nvml::Device device) const;
  // What the driver sampled of processes after `last_seen_us` (CLOCK_REALTIME).
  [[nodiscard]] std::vector<NvmlUtilization> process_utilization(nvml::Device device, uint64_t last_seen_us) const;

  [[nodiscard]] const NvmlFunctions& functions() const { return *functions_; }

 private:
  explicit Nvml(std::unique_ptr<NvmlFunctions> functions);
  [[nodiscard]] std::optional<NvmlDevice> device(unsigned index) const;
  void add_instances(const NvmlDevice& gpu, std::vector<NvmlDevice>& devices) const;

  std::unique_ptr<NvmlFunctions> functions_;
  mutable std::map<std::pair<nvml::Device, int>, unsigned> sample_room_;  // entries of each of the driver's rings
};

}  // namespace mlrun::gpu
