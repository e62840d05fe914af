// SPDX-License-Identifier: Apache-2.0
// Resolves paths on the file system as it is at merge time. If a path changed since the run, its inode differs and the
// path stays as recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mlrun::trace {

class Symlinks {
 public:
  // Resolves all symbolic links in `path` (absolute), or returns `path` if the file with that device and inode is no
  // longer there. Makes two system calls for the first file of a folder, one for each further file.
  std::string resolve(const std::string& path, uint32_t device, uint64_t inode);

  // Resolves the links in the folder of `path`, but not its last component.
  std::string with_resolved_folder(const std::string& path);

  // Resolves the links of a folder; unchanged if it no longer exists.
  std::string resolved(const std::string& folder) { return is_looked_at(folder) ? resolved_folder(folder) : folder; }

 private:
  static bool is_looked_at(std::string_view path);
  const std::string& resolved_folder(std::string_view folder);

  std::unordered_map<std::string, std::string> folders_;
};

}  // namespace mlrun::trace
