// SPDX-License-Identifier: Apache-2.0
// Reads logs of Darshan by its own Python package. Reads and writes traced by DXT become rows of `call` (POSIX) and slices (MPI-IO); each
// record of counters becomes a row of import_event.
#pragma once

#include <string>
#include <string_view>

#include "runner/exchange/import/input.h"
#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_darshan(const std::string& path, TraceMaker& to);
// Reads the text that Darshan's package prints for the log `path`.
Status read_darshan_text(Input& text, const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_darshan(std::string_view head);

}  // namespace mlrun::exchange
