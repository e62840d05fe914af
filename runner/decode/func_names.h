// SPDX-License-Identifier: Apache-2.0
// Names and classes of the hooked functions, expanded from hooks.def. For readers; producers expand the table
// themselves.
#pragma once

#include <cstdint>
#include <string_view>

#include "runner/events/call_class.h"

namespace mlrun::events {

struct FuncInfo {
  uint16_t number;
  std::string_view name;
  mlrun_call_class call_class;
};

// nullptr: a number this build does not know.
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
  }
  return nullptr;
}

}  // namespace mlrun::events
