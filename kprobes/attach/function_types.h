// SPDX-License-Identifier: Apache-2.0
// Finds functions and tracepoints of the running kernel and of its modules by name, as BPF programs name them. Their names are
// read once: there are a hundred thousand types, and libbpf looks at all of them for each name.
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
    int module = 0;       // descriptor of the module's types; 0: of the kernel itself
    int returned_at = 0;  // of a function: how many arguments are before what it returns; 0: it returns nothing
  };
  // Nothing: there is no such function, or nothing tells of it. `module` may be empty.
  std::optional<Place> find(std::string_view function, std::string_view module);

  // The tracepoint of that name, of the kernel or of that module.
  std::optional<Place> find_event(std::string_view event, std::string_view module);
  // How many arguments a tracepoint of the kernel itself has; 0: there is none of that name.
  size_t event_arguments(std::string_view event);

  // The kernel's own, and those of the modules that were asked for so far.
  [[nodiscard]] std::vector<const btf*> all() const;

  // The function may exist all the same: its module is loaded, and its types are not told.
  bool may_exist(std::string_view module);

  // Those that are loaded may be others now. Places in modules are good until then.
  void forget_modules();

 private:
  // Functions and tracepoints of one of them, by the hash of the name.
  class Names {
   public:
    Names() = default;
    Names(const btf* types, uint32_t first_type);
    [[nodiscard]] std::optional<uint32_t> find(std::string_view name, uint32_t kind) const;

   private:
    const btf* types_ = nullptr;
    std::vector<uint32_t> slots_;  // numbers of types, 0: free
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
