// SPDX-License-Identifier: Apache-2.0
// The result of a block request as an errno. Since 5.18 the kernel reports its own blk_status_t
// (include/linux/blk_types.h), before that a negative errno.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace mlrun::trace {

inline int32_t block_errno(int32_t error) {
  constexpr std::array<int32_t, 14> kErrnos = {0,       EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE,
                                               ENODATA, EILSEQ,     ENOMEM,    EIO,    EREMCHG, EAGAIN,    EBUSY};
  if (error <= 0) return -error;
  return static_cast<size_t>(error) < kErrnos.size() ? kErrnos[static_cast<size_t>(error)] : EIO;
}

}  // namespace mlrun::trace
