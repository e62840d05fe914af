// SPDX-License-Identifier: Apache-2.0
// The class of a hooked function by its number, as quick as every row needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runner/events/func_names.h"

namespace mlrun::trace {

// Nothing: a number that this build does not know.
inline std::optional<mlrun_call_class> class_of_func(uint16_t number) {
  constexpr size_t kNumbers = 256;
  static const auto kClasses = [] {
    std::array<std::optional<mlrun_call_class>, kNumbers> classes{};
    for (size_t i = 0; i < kNumbers; ++i) {
      if (const auto* info = events::find_func(static_cast<uint16_t>(i))) classes[i] = info->call_class;
    }
    return classes;
  }();
  return number < kNumbers ? kClasses[number] : std::nullopt;
}

inline bool transfers(uint16_t number) {
  const auto call_class = class_of_func(number);
  return call_class == MLRUN_CLASS_READ || call_class == MLRUN_CLASS_WRITE;
}

}  // namespace mlrun::trace
