// SPDX-License-Identifier: Apache-2.0
// Where a path leads to, on the file system as it is when the trace is merged. What has changed since the run shows in
// another inode: then the path stays as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mlrun::trace {

class Symlinks {
 public:
  // The path without symbolic links of the file that was opened under `path` (absolute), or `path` when the file with
  // that device and inode is not there any more. Two system calls for the first file of a folder, one for each other
  // one.
  std::string resolve(const std::string& path, uint32_t device, uint64_t inode);

  // `path` with the links in its folder resolved, itself not looked at.
  std::string with_resolved_folder(const std::string& path);

  // A folder without symbolic links; one that is not there any more stays as it is.
  std::string resolved(const std::string& folder) { return is_looked_at(folder) ? resolved_folder(folder) : folder; }

 private:
  static bool is_looked_at(std::string_view path);
  const std::string& resolved_folder(std::string_view folder);

  std::unordered_map<std::string, std::string> folders_;
};

}  // namespace mlrun::trace
