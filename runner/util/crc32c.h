// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as in iSCSI and ext4: by the CPU's instruction, or by a table if the CPU has none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlrun::util {

// Extends `crc`, the checksum of the preceding data (0: none), over `bytes` bytes.
uint32_t crc32c(uint32_t crc, const void* data, size_t bytes);

// Like crc32c, always by the table.
uint32_t crc32c_by_table(uint32_t crc, const void* data, size_t bytes);

}  // namespace mlrun::util
