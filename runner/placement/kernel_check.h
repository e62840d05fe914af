// SPDX-License-Identifier: Apache-2.0
// What the kernel refuses of placement here: the filter of a container often forbids these system calls, or an old kernel lacks them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlrun::placement {

// Tries to bind a page and a thread to the node, and to ask where a page is: one text for each that fails, with what does not work then.
std::vector<std::string> refused_by_kernel(uint32_t node);

}  // namespace mlrun::placement
