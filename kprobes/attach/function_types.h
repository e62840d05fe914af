// SPDX-License-Identifier: Apache-2.0
// Finds functions and tracepoints of the running kernel and its modules in their BTF, by the names that BPF programs
// use. The names are read once, into a hash table: libbpf would search some hundred thousand types for each name.
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
    int returned_at = 0;  // of a function: index of its return value, after all arguments; 0: it returns nothing
  };
  // The function in the kernel or, if it is not there, in `module` (may be empty). nullopt: there is no such function,
  // or no BTF of the module.
  std::optional<Place> find(std::string_view function, std::string_view module);

  // The tracepoint of that name, in the kernel or in that module.
  std::optional<Place> find_event(std::string_view event, std::string_view module);
  // Number of arguments of a tracepoint of the kernel itself; 0: there is none of that name.
  size_t event_arguments(std::string_view event);

  // The BTF of the kernel, and that of each module looked up so far.
  [[nodiscard]] std::vector<const btf*> all() const;

  // True: a function that find() does not find may exist, because its module is loaded but has no BTF.
  bool may_exist(std::string_view module);

  // To be called when modules may have been loaded or unloaded. Invalidates all Places in modules.
  void forget_modules();

 private:
  // The functions and tracepoints of one BTF, in a hash table by name.
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
