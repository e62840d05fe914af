// SPDX-License-Identifier: Apache-2.0
// How each of our programs ends: an error, an exception, or a failed write to stdout becomes one line on stderr and the
// exit status.
#pragma once

#include <functional>

#include "runner/util/result.h"

namespace mlrun::util {

// Runs `verb` with the standard descriptors held (standard_streams.h) and returns the exit status of the program. Verbs
// print to stdout by stdio or fmt and need not check: output that cannot be written gives 125. When the reader of a
// pipe has closed it, this process ends by SIGPIPE, without a message, even if SIGPIPE is ignored.
int run_program(const std::function<Result<int>()>& verb);

// Can standard output be written? Fails on a full device or a closed descriptor even if there is nothing to write, so that
// the result does not depend on the number of rows.
Status check_output();

// Ends this process as a write to a pipe without a reader does. Returns only if SIGPIPE cannot be unblocked.
void end_by_sigpipe();

}  // namespace mlrun::util
