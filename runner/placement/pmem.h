// SPDX-License-Identifier: Apache-2.0
// The folder of --pmem: on a file system that maps persistent memory itself (fs-dax, MAP_SYNC).
#pragma once

#include <cstdint>
#include <string>

#include "runner/util/result.h"

namespace mlrun::placement {

struct PmemFolder {
  std::string path;    // absolute
  uint64_t bytes = 0;  // limit for the blocks of one rule and process; 0: what the file system has
};

// Reads DIR[:SIZE], and checks it by mapping a file in DIR that is removed again.
Result<PmemFolder> find_pmem_folder(const std::string& text);

}  // namespace mlrun::placement
