// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/function_types.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "kprobes/attach/type_names.h"

namespace mlrun::probes {

namespace {

constexpr size_t kModuleNameMax = 64;

constexpr std::string_view kEventPrefix = "btf_trace_";

bool is_wanted(std::string_view name, uint32_t kind) {
  return kind == BTF_KIND_FUNC || (kind == BTF_KIND_TYPEDEF && name.starts_with(kEventPrefix));
}

// Opens the BTF object of a module in the kernel, by the module's name.
util::UniqueFd open_types(std::string_view module) {
  for (uint32_t id = 0; ::bpf_btf_get_next_id(id, &id) == 0;) {
    util::UniqueFd fd(::bpf_btf_get_fd_by_id(id));
    std::array<char, kModuleNameMax> name{};
    bpf_btf_info info{};
    info.name = reinterpret_cast<uintptr_t>(name.data());
    info.name_len = name.size();
    uint32_t bytes = sizeof info;
    if (!fd.valid() || ::bpf_obj_get_info_by_fd(fd.get(), &info, &bytes) != 0) continue;
    if (info.kernel_btf != 0 && module == name.data()) return fd;
  }
  return {};
}

}  // namespace

FunctionTypes::Names::Names(const btf* types, uint32_t first_type) : types_(types) {
  const uint32_t end = ::btf__type_cnt(types);
  slots_.resize(std::bit_ceil(size_t{end} - first_type + 2));  // leaves free slots, so that a search ends
  for (uint32_t id = first_type; id < end; id++) {
    const btf_type* type = ::btf__type_by_id(types, id);
    const uint32_t kind = ::btf_kind(type);
    if (kind != BTF_KIND_FUNC && kind != BTF_KIND_TYPEDEF) continue;
    const std::string_view name = name_at(types, type->name_off);
    if (!is_wanted(name, kind)) continue;
    size_t slot = std::hash<std::string_view>{}(name) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }
}

std::optional<uint32_t> FunctionTypes::Names::find(std::string_view name, uint32_t kind) const {
  if (types_ == nullptr) return std::nullopt;
  size_t slot = std::hash<std::string_view>{}(name) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const btf_type* type = ::btf__type_by_id(types_, slots_[slot]);
    if (::btf_kind(type) == kind && name_at(types_, type->name_off) == name) return slots_[slot];
  }
  return std::nullopt;
}

void FunctionTypes::forget_modules() {
  for (auto& [name, module] : modules_) ::btf__free(module.types);
  modules_.clear();
}

const FunctionTypes::Module& FunctionTypes::module_of(std::string_view name) {
  if (const auto known = modules_.find(name); known != modules_.end()) return known->second;
  Module& module = modules_[std::string(name)];
  const std::string path = "/sys/kernel/btf/" + std::string(name);
  if (::access(path.c_str(), R_OK) != 0) return module;
  module.fd = open_types(name);
  if (module.fd.valid()) module.types = ::btf__load_module_btf(std::string(name).c_str(), const_cast<btf*>(kernel_));
  if (module.types != nullptr) module.names = Names(module.types, ::btf__type_cnt(kernel_));
  return module;
}

std::optional<FunctionTypes::Place> FunctionTypes::find(std::string_view name, uint32_t kind, std::string_view module) {
  if (const auto type = kernel_names_.find(name, kind)) return Place{*type, 0};
  if (module.empty()) return std::nullopt;
  const Module& types = module_of(module);
  const auto type = types.names.find(name, kind);
  return type ? std::optional(Place{*type, types.fd.get()}) : std::nullopt;
}

std::optional<FunctionTypes::Place> FunctionTypes::find(std::string_view function, std::string_view module) {
  auto place = find(function, BTF_KIND_FUNC, module);
  if (!place) return place;
  const btf* types = place->module == 0 ? kernel_ : module_of(module).types;
  const btf_type* prototype = ::btf__type_by_id(types, ::btf__type_by_id(types, place->type)->type);
  const bool returns = prototype != nullptr && ::btf_is_func_proto(prototype) && prototype->type != 0;
  if (returns) place->returned_at = ::btf_vlen(prototype);
  return place;
}

std::optional<FunctionTypes::Place> FunctionTypes::find_event(std::string_view event, std::string_view module) {
  return find(std::string(kEventPrefix) + std::string(event), BTF_KIND_TYPEDEF, module);
}

std::vector<const btf*> FunctionTypes::all() const {
  std::vector<const btf*> all{kernel_};
  for (const auto& [name, module] : modules_) {
    if (module.types != nullptr) all.push_back(module.types);
  }
  return all;
}

// Counts the arguments of `typedef void (*btf_trace_NAME)(void *, ...)` without the first one, which is not the
// event's.
size_t FunctionTypes::event_arguments(std::string_view event) {
  const auto alias = find_event(event, "");
  if (!alias) return 0;
  const btf_type* pointer = ::btf__type_by_id(kernel_, ::btf__type_by_id(kernel_, alias->type)->type);
  if (pointer == nullptr || !::btf_is_ptr(pointer)) return 0;
  const btf_type* function = ::btf__type_by_id(kernel_, pointer->type);
  if (function == nullptr || !::btf_is_func_proto(function)) return 0;
  return std::max<size_t>(1, ::btf_vlen(function)) - 1;
}

bool FunctionTypes::may_exist(std::string_view module) {
  if (module.empty() || module_of(module).types != nullptr) return false;
  return ::access(("/sys/module/" + std::string(module)).c_str(), F_OK) == 0;
}

}  // namespace mlrun::probes
