// SPDX-License-Identifier: Apache-2.0
// Class of a hooked function by number; a table look-up, since every row needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runner/decode/func_names.h"

namespace mlrun::decode {

inline const auto kClassesOfFuncs = [] {
  std::array<std::optional<mlrun_call_class>, kFuncs> classes{};
  for_each_func([&](const FuncInfo& info) { classes[info.number] = info.call_class; });
  return classes;
}();

// nullopt: this build does not know the number.
inline std::optional<mlrun_call_class> class_of_func(uint16_t number) {
  return number < kClassesOfFuncs.size() ? kClassesOfFuncs[number] : std::nullopt;
}

inline bool transfers(uint16_t number) {
  const auto call_class = class_of_func(number);
  return call_class && (*call_class == MLRUN_CLASS_READ || *call_class == MLRUN_CLASS_WRITE);
}

// Whether the function copies bytes from one descriptor to another.
inline bool copies(uint16_t number) { return class_of_func(number) == MLRUN_CLASS_COPY; }

}  // namespace mlrun::decode
