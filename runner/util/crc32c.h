// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as in iSCSI and ext4: by the processor's instruction, or by a table where there is none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlrun::util {

// The checksum of `bytes` bytes behind data whose checksum is `crc` (0: none before).
uint32_t crc32c(uint32_t crc, const void* data, size_t bytes);

// The same without the instruction.
uint32_t crc32c_by_table(uint32_t crc, const void* data, size_t bytes);

}  // namespace mlrun::util
