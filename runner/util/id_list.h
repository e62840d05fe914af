// SPDX-License-Identifier: Apache-2.0
// Lists of CPUs or nodes as the kernel writes them: "0-3,8".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::util {

// Numbers of CPUs or nodes, ascending, each once.
using IdList = std::vector<uint32_t>;

inline constexpr uint32_t kIdsMax = 8192;  // all are below it: more than any kernel is built for

// Fails for an empty list, and for one that the kernel does not write.
Result<IdList> parse_id_list(std::string_view text);
std::string id_list_text(const IdList& ids);

// The list in a file of /sys. Empty also if there is no such file.
IdList read_id_list(const std::string& path);

}  // namespace mlrun::util
