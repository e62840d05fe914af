// SPDX-License-Identifier: Apache-2.0
// The build id of a library or program.
#pragma once

#include <string>

namespace mlrun::placement {

// In hexadecimal digits; empty: it has none, or is no ELF file of 64 bits. Reads a few pages.
std::string build_id_of(const std::string& path);

}  // namespace mlrun::placement
