// SPDX-License-Identifier: Apache-2.0
// Finds functions and tracepoints of the running kernel and its modules by name, as BPF programs name them. The names
// are read once: there are a hundred thousand types, and libbpf searches all of them for each name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/unique_fd.h"

struct btf;

namespace mlrun::probes {

class FunctionTypes {
 public:
  // Requires: `kernel` outlives it.
  explicit FunctionTypes(const btf* kernel) : kernel_names_(kernel, 1), kernel_(kernel) {}
  ~FunctionTypes() { forget_modules(); }
  FunctionTypes(const FunctionTypes&) = delete;
  FunctionTypes& operator=(const FunctionTypes&) = delete;

  struct Place {
    uint32_t type = 0;
    int module = 0;       // descriptor of the module's BTF; 0: the kernel itself
    int returned_at = 0;  // of a function: number of arguments before its return value; 0: it returns nothing
  };
  // nullopt: there is no such function, or its types are unavailable. `module` may be empty.
  std::optional<Place> find(std::string_view function, std::string_view module);

  // The tracepoint of that name, in the kernel or in that module.
  std::optional<Place> find_event(std::string_view event, std::string_view module);
  // Number of arguments of a tracepoint of the kernel itself; 0: there is none of that name.
  size_t event_arguments(std::string_view event);

  // The kernel's own, and those of the modules looked up so far.
  [[nodiscard]] std::vector<const btf*> all() const;

  // The function may still exist: its module is loaded, but has no BTF.
  bool may_exist(std::string_view module);

  // Called when loaded modules may have changed. Places in modules are valid until then.
  void forget_modules();

 private:
  // Functions and tracepoints of one BTF, by the hash of the name.
  class Names {
   public:
    Names() = default;
    Names(const btf* types, uint32_t first_type);
    [[nodiscard]] std::optional<uint32_t> find(std::string_view name, uint32_t kind) const;

   private:
    const btf* types_ = nullptr;
    std::vector<uint32_t> slots_;  // BTF ids, 0: free
  };
  struct Module {
    util::UniqueFd fd;
    btf* types = nullptr;
    Names names = {};
  };
  const Module& module_of(std::string_view name);
  std::optional<Place> find(std::string_view name, uint32_t kind, std::string_view module);

  Names kernel_names_;
  const btf* kernel_;
  std::map<std::string, Module, std::less<>> modules_;
};

}  // namespace mlrun::probes
