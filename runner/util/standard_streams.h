// SPDX-License-Identifier: Apache-2.0
// The standard descriptors as a program of ours uses them: they may be closed, full, or a pipe whose reader has gone.
#pragma once

#include <string_view>

namespace mlrun::util {

// Puts /dev/null where 0, 1 or 2 is closed, so that no file of ours takes the number and gets our messages written into
// it. Output into a closed stdout still fails, with EBADF. A program that is started from here finds them closed again.
// To be called first in main.
void hold_standard_descriptors();

// "mlrun: TEXT" on stderr, one line whatever names are in it. What cannot be written is lost: what the command did matters more.
void say(std::string_view text);

}  // namespace mlrun::util
