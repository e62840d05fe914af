// SPDX-License-Identifier: Apache-2.0
// What a fuzz target made of its input, for replays: a reader that no longer sees a byte of its inputs cannot fail on them.
#pragma once

namespace mlrun::testing {

// True: the target has read its last input, and found an event in it. False: it refused the input, or saw nothing of it.
bool was_accepted();

}  // namespace mlrun::testing
