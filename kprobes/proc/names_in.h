// SPDX-License-Identifier: Apache-2.0
// Lists a folder of /proc. The result may be incomplete or empty: the process of the folder may end at any moment.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace mlrun::probes {

inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

}  // namespace mlrun::probes
