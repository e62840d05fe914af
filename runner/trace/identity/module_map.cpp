// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/module_map.h"

#include "runner/decode/limits.h"

namespace mlrun::trace {

namespace {
constexpr int kForksMax = 64;
}  // namespace

int64_t ModuleMap::library_id(const std::string& path) {
  const auto [place, made] = library_ids_.try_emplace(path, static_cast<int64_t>(libraries_.size()) + 1);
  if (made) libraries_.push_back(path);
  return place->second;
}

void ModuleMap::add(uint32_t process, uint64_t start, uint64_t end, uint64_t file_offset, const std::string& path) {
  if (start >= end || mappings_ >= decode::kModulesMax) return;
  OfProcess& mappings = processes_[process];
  const auto known = mappings.find(start);
  const int64_t library = library_id(path);
  if (known != mappings.end() && known->second.end == end && known->second.library == library) return;
  auto at = mappings.upper_bound(start);
  if (at != mappings.begin() && std::prev(at)->second.end > start) --at;
  while (at != mappings.end() && at->first < end) at = mappings.erase(at);
  mappings.emplace(start, Mapping{end, file_offset, library});
  ++mappings_;
}

void ModuleMap::inherit(uint32_t process, uint32_t parent) {
  if (process != parent && !processes_.contains(process)) parents_.emplace(process, parent);
}

Site ModuleMap::find(uint32_t process, uint64_t address) const {
  for (int i = 0; i <= kForksMax; ++i) {
    if (const auto own = processes_.find(process); own != processes_.end()) {
      if (const Site site = find_in(own->second, address); site.library != 0) return site;
    }
    const auto parent = parents_.find(process);
    if (parent == parents_.end()) return {};
    process = parent->second;
  }
  return {};
}

std::set<int64_t> ModuleMap::libraries_of(uint32_t process) const {
  std::set<int64_t> found;
  for (int i = 0; i <= kForksMax; ++i) {
    if (const auto own = processes_.find(process); own != processes_.end()) {
      for (const auto& [start, mapping] : own->second) found.insert(mapping.library);
    }
    const auto parent = parents_.find(process);
    if (parent == parents_.end()) break;
    process = parent->second;
  }
  return found;
}

Site ModuleMap::find_in(const OfProcess& mappings, uint64_t address) {
  const auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return {};
  const auto& [start, mapping] = *std::prev(after);
  if (address >= mapping.end) return {};
  return {mapping.library, static_cast<int64_t>(address - start + mapping.file_offset)};
}

}  // namespace mlrun::trace
