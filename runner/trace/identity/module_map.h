// SPDX-License-Identifier: Apache-2.0
// The library at an address of a process, by the mappings that the collector read during the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlrun::trace {

struct Site {
  int64_t library = 0;  // name_id; 0: unknown
  int64_t file_offset = 0;
};

class ModuleMap {
 public:
  // Later mappings replace those they overlap. `process`: the producers' number.
  void add(uint32_t process, uint64_t start, uint64_t end, uint64_t file_offset, const std::string& path);

  // If no mappings of `process` were read (a forked child), it has those of `parent`, including ones added later.
  void inherit(uint32_t process, uint32_t parent);

  [[nodiscard]] Site find(uint32_t process, uint64_t address) const;

  // All libraries seen in the process, and in the processes whose mappings it inherits.
  [[nodiscard]] std::set<int64_t> libraries_of(uint32_t process) const;

  // The library's path; "" for 0.
  [[nodiscard]] std::string path(int64_t library) const {
    return library == 0 ? std::string() : libraries_[static_cast<size_t>(library) - 1];
  }

  // Libraries in order of name_id, which counts from 1.
  [[nodiscard]] const std::vector<std::string>& libraries() const { return libraries_; }

 private:
  struct Mapping {
    uint64_t end = 0, file_offset = 0;
    int64_t library = 0;
  };
  using OfProcess = std::map<uint64_t, Mapping>;  // by start

  static Site find_in(const OfProcess& mappings, uint64_t address);
  int64_t library_id(const std::string& path);

  std::unordered_map<uint32_t, OfProcess> processes_;
  std::unordered_map<uint32_t, uint32_t> parents_;
  std::vector<std::string> libraries_;
  std::unordered_map<std::string, int64_t> library_ids_;
  size_t mappings_ = 0;
};

}  // namespace mlrun::trace
