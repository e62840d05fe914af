// SPDX-License-Identifier: Apache-2.0
// Reads the output of strace (-f, -ff, -i, -n, -r, -t, -tt, -ttt, -T, -x, -y, -Y in any combination). System calls that mlrun records too become
// rows of `call`, other system calls become slices of the kind syscall.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_strace(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_strace(const std::string& text);

}  // namespace mlrun::exchange
