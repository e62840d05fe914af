// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/gpu/nvml.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runner/samplers/gpu/nvml_functions.h"

namespace mlrun::gpu {

namespace {

constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";
constexpr unsigned kInstancesMax = 64;

// Calls `function` for the device and returns its Answer as a number.
template <typename Answer, typename Function, typename... Arguments>
Nvml::Number ask(Function* function, nvml::Device device, Arguments... arguments) {
  Answer answer{};
  if (!function || function(device, arguments..., &answer) != nvml::kSuccess) return std::nullopt;
  return static_cast<int64_t>(answer);
}

Nvml::Number engine(NvmlFunctions::GetEngine* function, nvml::Device device) {
  unsigned percent = 0, period_us = 0;
  if (!function || function(device, &percent, &period_us) != nvml::kSuccess) return std::nullopt;
  return percent;
}

std::string text(NvmlFunctions::GetText* function, nvml::Device device) {
  std::array<char, 128> buffer{};
  if (!function || function(device, buffer.data(), buffer.size()) != nvml::kSuccess) return {};
  buffer.back() = 0;
  return buffer.data();
}

// A container has only the driver libraries selected at its start.
const char* why_not_there() {
  const bool has_driver = ::access("/proc/driver/nvidia/version", F_OK) == 0 || ::access("/dev/nvidiactl", F_OK) == 0;
  if (!has_driver) return "there is no NVIDIA driver here";
  return "the driver is installed, but not this library of it; start a container with "
         "NVIDIA_DRIVER_CAPABILITIES=compute,utility";
}

Nvml::Number number_of(const nvml::FieldValue& field) {
  return field.result == nvml::kSuccess ? nvml::number(field.type, field.value) : std::nullopt;
}

}  // namespace

std::optional<int64_t> nvml::number(int type, const Value& value) {
  switch (static_cast<ValueType>(type)) {
    case kDouble: return static_cast<int64_t>(value.real);
    case kUnsigned: return value.ui;
    case kUnsignedLong: return static_cast<int64_t>(value.ul);
    case kUnsignedLongLong: return static_cast<int64_t>(value.ull);
    case kSignedLongLong: return value.sll;
    case kSigned: return value.si;
    case kUnsignedShort: return value.us;
  }
  return std::nullopt;
}

Nvml::Nvml(std::unique_ptr<NvmlFunctions> functions) : functions_(std::move(functions)) {}

// The library stays loaded: driver threads may still run in it.
Nvml::~Nvml() {
  if (functions_->shutdown) functions_->shutdown();
}

Result<std::unique_ptr<Nvml>> Nvml::open() {
  void* library = ::dlopen(kNvmlLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(fmt::format("{} cannot be loaded: {}", kNvmlLibrary, why_not_there()));
  auto functions = std::make_unique<NvmlFunctions>(library);
  if (!functions->init || !functions->count || !functions->handle) {
    return fail(fmt::format("{} lacks the functions that list GPUs", kNvmlLibrary));
  }
  if (const nvml::Return result = functions->init(); result != nvml::kSuccess) {
    const char* why = functions->error_string ? functions->error_string(result) : nullptr;
    return fail(fmt::format("{} does not start: {} (error {})", kNvmlLibrary, why ? why : "no reason given", result));
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(functions)));
}

std::string Nvml::driver_version() const {
  std::array<char, 96> buffer{};
  if (!functions_->driver_version || functions_->driver_version(buffer.data(), buffer.size()) != nvml::kSuccess) {
    return {};
  }
  return buffer.data();
}

std::optional<NvmlDevice> Nvml::device(unsigned index) const {
  NvmlDevice gpu;
  gpu.index = index;
  if (functions_->handle(index, &gpu.handle) != nvml::kSuccess) return std::nullopt;
  gpu.uuid = text(functions_->uuid, gpu.handle);
  gpu.name = text(functions_->name, gpu.handle);
  nvml::PciInfo pci{};
  if (functions_->pci && functions_->pci(gpu.handle, &pci) == nvml::kSuccess) {
    gpu.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
  }
  gpu.memory_bytes = memory_total(gpu.handle).value_or(-1);
  return gpu;
}

void Nvml::add_instances(const NvmlDevice& gpu, std::vector<NvmlDevice>& devices) const {
  unsigned now = 0, pending = 0;
  if (!functions_->mig_mode || !functions_->mig_handle) return;
  if (functions_->mig_mode(gpu.handle, &now, &pending) != nvml::kSuccess || now == 0) return;
  const unsigned count = static_cast<unsigned>(ask<unsigned>(functions_->mig_count, gpu.handle).value_or(0));
  for (unsigned i = 0; i < std::min(count, kInstancesMax); ++i) {
    NvmlDevice instance;
    if (functions_->mig_handle(gpu.handle, i, &instance.handle) != nvml::kSuccess) continue;
    instance.index = gpu.index;
    instance.uuid = text(functions_->uuid, instance.handle);
    instance.name = text(functions_->name, instance.handle);
    instance.pci = gpu.pci;
    instance.memory_bytes = memory_total(instance.handle).value_or(-1);
    instance.is_mig = true;
    instance.parent = gpu.handle;
    instance.gpu_instance = static_cast<int32_t>(ask<unsigned>(functions_->gpu_instance, instance.handle).value_or(-1));
    instance.compute_instance =
        static_cast<int32_t>(ask<unsigned>(functions_->compute_instance, instance.handle).value_or(-1));
    devices.push_back(std::move(instance));
  }
}

std::vector<NvmlDevice> Nvml::devices() const {
  std::vector<NvmlDevice> devices;
  unsigned count = 0;
  if (functions_->count(&count) != nvml::kSuccess) return devices;
  for (unsigned index = 0; index < count; ++index) {
    const auto gpu = device(index);
    if (!gpu) continue;
    devices.push_back(*gpu);
    add_instances(*gpu, devices);
  }
  return devices;
}

std::optional<nvml::Utilization> Nvml::utilization(nvml::Device device) const {
  nvml::Utilization rates{};
  if (!functions_->utilization || functions_->utilization(device, &rates) != nvml::kSuccess) return std::nullopt;
  return rates;
}

Nvml::Number Nvml::encoder_percent(nvml::Device device) const { return engine(functions_->encoder, device); }
Nvml::Number Nvml::decoder_percent(nvml::Device device) const { return engine(functions_->decoder, device); }
Nvml::Number Nvml::jpeg_percent(nvml::Device device) const { return engine(functions_->jpeg, device); }
Nvml::Number Nvml::optical_flow_percent(nvml::Device device) const { return engine(functions_->optical_flow, device); }
Nvml::Number Nvml::power_mw(nvml::Device device) const { return ask<unsigned>(functions_->power, device); }
Nvml::Number Nvml::energy_mj(nvml::Device device) const { return ask<unsigned long long>(functions_->energy, device); }
Nvml::Number Nvml::temperature_c(nvml::Device device) const {
  return ask<unsigned>(functions_->temperature, device, int{nvml::kTemperatureGpu});
}
Nvml::Number Nvml::clock_mhz(nvml::Device device, nvml::ClockType type) const {
  return ask<unsigned>(functions_->clock, device, int{type});
}
Nvml::Number Nvml::throttle_reasons(nvml::Device device) const {
  return ask<unsigned long long>(functions_->throttle, device);
}
Nvml::Number Nvml::pcie_replays(nvml::Device device) const { return ask<unsigned>(functions_->pcie_replays, device); }
Nvml::Number Nvml::fan_percent(nvml::Device device) const { return ask<unsigned>(functions_->fan, device); }
Nvml::Number Nvml::performance_state(nvml::Device device) const {
  return ask<unsigned>(functions_->performance_state, device);
}
Nvml::Number Nvml::ecc_errors(nvml::Device device, int kind) const {
  return ask<unsigned long long>(functions_->ecc, device, kind, int{nvml::kEccVolatile});
}

Nvml::Number Nvml::violation_ns(nvml::Device device, int policy) const {
  nvml::ViolationTime time{};
  if (!functions_->violation || functions_->violation(device, policy, &time) != nvml::kSuccess) return std::nullopt;
  return static_cast<int64_t>(time.violation_ns);
}

// Version 2 of NVML's function excludes the driver's own reserve from `used`.
Nvml::MemoryUse Nvml::memory_use(nvml::Device device) const {
  nvml::MemoryV2 later{};
  later.version = nvml::kMemoryV2;
  if (functions_->memory_v2 && functions_->memory_v2(device, &later) == nvml::kSuccess) {
    return {static_cast<int64_t>(later.used), static_cast<int64_t>(later.free)};
  }
  nvml::Memory memory{};
  if (!functions_->memory || functions_->memory(device, &memory) != nvml::kSuccess) return {};
  return {static_cast<int64_t>(memory.used), static_cast<int64_t>(memory.free)};
}

Nvml::Number Nvml::protected_memory_used(nvml::Device device) const {
  nvml::Memory memory{};
  if (!functions_->protected_memory || functions_->protected_memory(device, &memory) != nvml::kSuccess) {
    return std::nullopt;
  }
  return static_cast<int64_t>(memory.used);
}

Nvml::Number Nvml::memory_total(nvml::Device device) const {
  nvml::Memory memory{};
  if (!functions_->memory || functions_->memory(device, &memory) != nvml::kSuccess) return std::nullopt;
  return static_cast<int64_t>(memory.total);
}

Nvml::Number Nvml::bar1_used(nvml::Device device) const {
  nvml::Bar1Memory memory{};
  if (!functions_->bar1 || functions_->bar1(device, &memory) != nvml::kSuccess) return std::nullopt;
  return static_cast<int64_t>(memory.used);
}

std::vector<Nvml::Number> Nvml::fields(nvml::Device device, const std::vector<nvml::Field>& wanted) const {
  std::vector<nvml::FieldValue> values(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    values[i].field = wanted[i];
    const bool of_links = wanted[i] == nvml::kFieldNvlinkRxKib || wanted[i] == nvml::kFieldNvlinkTxKib;
    values[i].scope = of_links ? nvml::kAllLinks : 0;
    values[i].result = nvml::kNotSupported;
  }
  std::vector<Number> numbers(wanted.size());
  if (!functions_->fields || functions_->fields(device, static_cast<int>(values.size()), values.data())) return numbers;
  for (size_t i = 0; i < values.size(); ++i) numbers[i] = number_of(values[i]);
  return numbers;
}

}  // namespace mlrun::gpu
