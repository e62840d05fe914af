// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/call_names.h"

#include <unordered_map>

#include "runner/decode/func_names.h"

namespace mlrun::exchange {

namespace {

std::unordered_map<std::string_view, uint16_t> make_names() {
  std::unordered_map<std::string_view, uint16_t> names;
  decode::for_each_func([&](const decode::FuncInfo& info) { names.emplace(info.name, info.number); });
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"newfstatat", "fstatat"},      {"__xstat", "stat"},         {"__lxstat", "lstat"},
      {"__fxstat", "fstat"},          {"__fxstatat", "fstatat"},   {"getdents", "getdents64"},
      {"unlinkat", "unlinkat"},       {"creat", "creat"},          {"mmap2", "mmap"},
      {"_llseek", "lseek"},           {"faccessat2", "faccessat"}, {"renameat2", "renameat2"},
      {"fadvise64", "posix_fadvise"}, {"pwritev2", "pwritev2"}};
  for (const auto& [other, usual] : kOthers) {
    if (const auto found = names.find(usual); found != names.end()) names.emplace(other, found->second);
  }
  return names;
}

}  // namespace

std::optional<uint16_t> func_number(std::string_view name) {
  static const auto kNames = make_names();
  if (const auto found = kNames.find(name); found != kNames.end()) return found->second;
  if (!name.ends_with("64")) return std::nullopt;
  const auto found = kNames.find(name.substr(0, name.size() - 2));
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace mlrun::exchange
