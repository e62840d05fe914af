// SPDX-License-Identifier: Apache-2.0
// Conversion between the kernel's device numbers (major << 20 | minor) and those of stat(), which the table `file` has.
#pragma once

#include <cstdint>

namespace mlrun::trace {

inline constexpr uint32_t kMinorBits = 20;

inline int32_t major_of(uint32_t device) { return static_cast<int32_t>(device >> kMinorBits); }
inline int32_t minor_of(uint32_t device) { return static_cast<int32_t>(device & ((1u << kMinorBits) - 1)); }

inline int64_t stat_device(uint32_t device) {
  const auto major = static_cast<uint32_t>(major_of(device)), minor = static_cast<uint32_t>(minor_of(device));
  return static_cast<int64_t>((minor & 0xff) | major << 8 | (minor & ~0xffu) << 12);
}

inline uint32_t kernel_device(uint64_t stat_device) {
  const auto major = static_cast<uint32_t>(stat_device >> 8) & 0xfff;
  const auto minor = (static_cast<uint32_t>(stat_device) & 0xff) | (static_cast<uint32_t>(stat_device >> 12) & ~0xffu);
  return major << kMinorBits | minor;
}

}  // namespace mlrun::trace
