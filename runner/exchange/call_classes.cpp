// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/call_classes.h"

#include <unordered_map>

#include "runner/decode/func_names.h"

namespace mlrun::exchange {

const mlrun_call_class* class_of_name(std::string_view func) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const mlrun_call_class*> classes;
    decode::for_each_func([&](const decode::FuncInfo& info) { classes.emplace(info.name, &info.call_class); });
    return classes;
  }();
  const auto found = kByName.find(func);
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace mlrun::exchange
