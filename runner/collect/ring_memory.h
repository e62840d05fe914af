// SPDX-License-Identifier: Apache-2.0
// A staging ring in memory: file bytes mapped twice in a row, so that data across its end is contiguous.
#pragma once

#include <sys/types.h>

#include "runner/util/mapping.h"

namespace mlrun::collect {

// MLRUN_STAGE_BYTES of `fd` from `offset` on. Invalid if memory is short.
util::Mapping map_ring(int fd, off_t offset);

// A ring backed by an anonymous file.
util::Mapping make_ring();

}  // namespace mlrun::collect
