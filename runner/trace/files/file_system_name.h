// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace mlrun::trace {

// The type of the file system with that magic number (statfs(2)), as mounts have it; empty: not known.
std::string file_system_name(uint32_t magic);

}  // namespace mlrun::trace
