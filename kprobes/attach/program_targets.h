// SPDX-License-Identifier: Apache-2.0
// Tells libbpf which function or tracepoint each program is for, from names that are read already: by itself it would read all
// types of the kernel once more, and look through them for each program.
#pragma once

#include "kprobes/attach/function_types.h"

namespace mlrun::probes {

// Before the first object is opened, and again for each one. Requires: `types` lives until that object is loaded.
void tell_program_targets(FunctionTypes& types);

// The module whose event it is; empty: the kernel itself.
std::string_view module_of_event(std::string_view event);

}  // namespace mlrun::probes
