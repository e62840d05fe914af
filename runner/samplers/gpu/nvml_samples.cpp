// SPDX-License-Identifier: Apache-2.0
// The driver's own samples, which it keeps in a ring.
#include <algorithm>

#include "runner/samplers/gpu/nvml.h"
#include "runner/samplers/gpu/nvml_functions.h"

namespace mlrun::gpu {

namespace {
constexpr unsigned kSamplesAtLeast = 128, kSamplesMax = 8192;
}

// Called without a buffer, the driver returns the size of its ring.
std::optional<std::vector<NvmlSample>> Nvml::samples(nvml::Device device, nvml::SamplingType type,
                                                     uint64_t last_seen_us) const {
  if (!functions_->samples) return std::nullopt;
  unsigned& room = sample_room_[{device, type}];
  int value_type = nvml::kUnsigned;
  if (room == 0) {
    unsigned length = 0;
    const nvml::Return result = functions_->samples(device, type, 0, &value_type, &length, nullptr);
    if (result == nvml::kNotSupported) return std::nullopt;
    if (result != nvml::kSuccess && result != nvml::kInsufficientSize) return std::vector<NvmlSample>();
    room = std::clamp(length, kSamplesAtLeast, kSamplesMax);
  }
  std::vector<nvml::Sample> entries(room);
  unsigned count = room;
  const nvml::Return result = functions_->samples(device, type, last_seen_us, &value_type, &count, entries.data());
  if (result == nvml::kNotSupported) return std::nullopt;
  if (result == nvml::kInsufficientSize) room = std::min(room * 2, kSamplesMax);
  std::vector<NvmlSample> found;
  if (result != nvml::kSuccess || count > entries.size()) return found;
  for (unsigned i = 0; i < count; ++i) {
    const auto value = nvml::number(value_type, entries[i].value);
    if (value) found.push_back({entries[i].timestamp_us, *value});
  }
  return found;
}

}  // namespace mlrun::gpu
