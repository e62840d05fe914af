// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto, compressed: the stacks of Python samples, file calls, allocations and GPU memory, each summed up by process.
#pragma once

#include "runner/util/result.h"

namespace mlrun::exchange {

class Export;

Status write_pprof(Export& job);

}  // namespace mlrun::exchange
