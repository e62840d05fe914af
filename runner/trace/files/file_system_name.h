// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::trace {

// Type name of the file system with a magic number (statfs(2)), as in mountinfo; empty: unknown.
std::string file_system_name(uint32_t magic);

}  // namespace mlrun::trace
