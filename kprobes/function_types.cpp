// SPDX-License-Identifier: Apache-2.0
#include "kprobes/function_types.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mlrun::probes {

namespace {

constexpr size_t kModuleNameMax = 64;

std::optional<uint32_t> find_in(const btf* types, std::string_view function) {
  const int32_t type = ::btf__find_by_name_kind(types, std::string(function).c_str(), BTF_KIND_FUNC);
  return type > 0 ? std::optional(static_cast<uint32_t>(type)) : std::nullopt;
}

// Types of that name that the kernel holds itself.
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

FunctionTypes::~FunctionTypes() {
  for (auto& [name, module] : modules_) ::btf__free(module.types);
}

const FunctionTypes::Module& FunctionTypes::module_of(std::string_view name) {
  if (const auto known = modules_.find(name); known != modules_.end()) return known->second;
  Module& module = modules_[std::string(name)];
  const std::string path = "/sys/kernel/btf/" + std::string(name);
  if (::access(path.c_str(), R_OK) != 0) return module;
  module.fd = open_types(name);
  if (module.fd.valid()) module.types = ::btf__load_module_btf(std::string(name).c_str(), const_cast<btf*>(kernel_));
  return module;
}

std::optional<FunctionTypes::Place> FunctionTypes::find(std::string_view function, std::string_view module) {
  if (const auto type = find_in(kernel_, function)) return Place{*type, 0};
  if (module.empty()) return std::nullopt;
  const Module& types = module_of(module);
  if (types.types == nullptr) return std::nullopt;
  const auto type = find_in(types.types, function);
  return type ? std::optional(Place{*type, types.fd.get()}) : std::nullopt;
}

bool FunctionTypes::has_event(std::string_view event, std::string_view module) {
  const std::string type = "btf_trace_" + std::string(event);
  const auto has = [&](const btf* types) {
    return types != nullptr && ::btf__find_by_name_kind(types, type.c_str(), BTF_KIND_TYPEDEF) >= 0;
  };
  return has(kernel_) || (!module.empty() && has(module_of(module).types));
}

// typedef void (*btf_trace_NAME)(void *, ...): the first is not the event's.
size_t FunctionTypes::event_arguments(std::string_view event) {
  const std::string name = "btf_trace_" + std::string(event);
  const int32_t alias = ::btf__find_by_name_kind(kernel_, name.c_str(), BTF_KIND_TYPEDEF);
  const btf_type* pointer = alias > 0 ? ::btf__type_by_id(kernel_, ::btf__type_by_id(kernel_, alias)->type) : nullptr;
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
