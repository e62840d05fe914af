// SPDX-License-Identifier: Apache-2.0
// The standard descriptors of our programs: they may be closed, full, or a pipe without a reader.
#pragma once

namespace mlrun::util {

// Opens /dev/null for each closed descriptor 0, 1 or 2. Otherwise a file that we open would get the number, and our
// messages would go into that file. Output to a closed stdout still fails with EBADF. Programs that we start have these
// descriptors closed again. To be called first in main.
void hold_standard_descriptors();

}  // namespace mlrun::util
