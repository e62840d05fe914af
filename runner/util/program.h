// SPDX-License-Identifier: Apache-2.0
// How each of our programs ends: an error, an exception, or output that could not be written becomes one line on stderr
// and the exit status, at this one place.
#pragma once

#include <functional>

#include "runner/util/result.h"

namespace mlrun::util {

// Runs `verb` with the standard descriptors held (standard_streams.h) and returns the exit status of the program. Verbs
// print to stdout by stdio or fmt and need not check: output that cannot be written gives 125. When the reader of a pipe
// has gone, this process ends by SIGPIPE, without a message, also where SIGPIPE is ignored.
int run_program(const std::function<Result<int>()>& verb);

// Does standard output take anything? For output that may be empty: it fails on a full device and a closed descriptor even
// then, so that a caller does not depend on the number of rows.
Status check_output();

// Ends this process as a write to a pipe without a reader does. Returns only where SIGPIPE is blocked for good.
void end_by_sigpipe();

}  // namespace mlrun::util
