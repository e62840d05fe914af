// SPDX-License-Identifier: Apache-2.0
// Names and classes of the hooked functions, expanded from hooks.def. For readers; producers expand the table
// themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/events/call_class.h"

namespace mlrun::decode {

struct FuncInfo {
  uint16_t number;
  std::string_view name;
  mlrun_call_class call_class;
};

// Number of entries of tables by function number. Larger numbers, of later versions, use the last entry: func_slot().
inline constexpr size_t kFuncs = 256;
inline constexpr uint16_t kLargestFunc = std::max<uint16_t>({
    0,
#define FUNCTION(number, ...) number,
#define HANDMADE(number, ...) number,
#define ROW(number, ...)      number,
#include "runner/events/hooks.def"
});
static_assert(kLargestFunc < kFuncs - 1, "more functions than tables have entries: raise kFuncs");

// nullptr: this build does not know the number.
inline const FuncInfo* find_func(uint16_t number) {
  switch (number) {
#define FUNCTION(number, name, class_, ...)                               \
  case number: {                                                          \
    static constexpr FuncInfo kInfo{number, #name, MLRUN_CLASS_##class_}; \
    return &kInfo;                                                        \
  }
#define HANDMADE(number, name, class_) FUNCTION(number, name, class_)
#define ROW(number, name, class_)      FUNCTION(number, name, class_)
#include "runner/events/hooks.def"
    default: return nullptr;
  }
}

// "read"; "function N" for a number that this build does not know. Those that share the last entry of tables share a name.
inline std::string func_name(uint16_t number) {
  if (const FuncInfo* info = find_func(number)) return std::string(info->name);
  return number < kFuncs - 1 ? "function " + std::to_string(number) : "function 255 or later";
}

// The entry of a function in a table of kFuncs entries.
inline uint16_t func_slot(uint16_t number) { return std::min<uint16_t>(number, kFuncs - 1); }

// Visits a const FuncInfo& for each function that this build knows, by number. The infos are static.
template <typename Visit>
void for_each_func(Visit visit) {
  for (uint16_t number = 0; number <= kLargestFunc; ++number) {
    if (const FuncInfo* info = find_func(number)) visit(*info);
  }
}

}  // namespace mlrun::decode
