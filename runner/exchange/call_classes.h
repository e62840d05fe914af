// SPDX-License-Identifier: Apache-2.0
// The class of a hooked function by its name in the tables.
#pragma once

#include <string_view>

#include "runner/events/call_class.h"

namespace mlrun::exchange {

// nullptr: no hooked function has this name.
[[nodiscard]] const mlrun_call_class* class_of_name(std::string_view func);

}  // namespace mlrun::exchange
