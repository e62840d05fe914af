// SPDX-License-Identifier: Apache-2.0
// The standard descriptors of our programs: they may be closed, full, or a pipe without a reader.
#pragma once

namespace mlrun::util {

// Opens /dev/null for closed descriptors 0, 1 or 2, so that no file of ours gets the number, and our messages with it.
// Output to a closed stdout still fails with EBADF. A started program finds them closed again. To be called first in
// main.
void hold_standard_descriptors();

}  // namespace mlrun::util
