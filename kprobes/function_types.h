// SPDX-License-Identifier: Apache-2.0
// Finds functions and tracepoints of the running kernel and of its modules by name, as BPF programs name them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runner/util/unique_fd.h"

struct btf;

namespace mlrun::probes {

class FunctionTypes {
 public:
  // Requires: `kernel` outlives it.
  explicit FunctionTypes(const btf* kernel) : kernel_(kernel) {}
  ~FunctionTypes();
  FunctionTypes(const FunctionTypes&) = delete;
  FunctionTypes& operator=(const FunctionTypes&) = delete;

  struct Place {
    uint32_t type = 0;
    int module = 0;  // descriptor of the module's types; 0: of the kernel itself
  };
  // Nothing: there is no such function, or nothing tells of it. `module` may be empty.
  std::optional<Place> find(std::string_view function, std::string_view module);

  // The kernel, or that module of it, has a tracepoint of that name.
  bool has_event(std::string_view event, std::string_view module);
  // How many arguments a tracepoint of the kernel itself has; 0: there is none of that name.
  size_t event_arguments(std::string_view event);

  // The function may exist all the same: its module is loaded, and its types are not told.
  bool may_exist(std::string_view module);

 private:
  struct Module {
    util::UniqueFd fd;
    btf* types = nullptr;
  };
  const Module& module_of(std::string_view name);

  const btf* kernel_;
  std::map<std::string, Module, std::less<>> modules_;
};

}  // namespace mlrun::probes
