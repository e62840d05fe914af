// SPDX-License-Identifier: Apache-2.0
// Gives libbpf the function or tracepoint of each program, from names that are already read. By itself libbpf would
// read all kernel types again and search them for each program.
#pragma once

#include "kprobes/attach/function_types.h"

namespace mlrun::probes {

// Before the first object is opened, and again for each object. Requires: `types` lives until that object is loaded.
void set_program_targets(FunctionTypes& types);

// The module that has the event; empty: the kernel itself.
std::string_view module_of_event(std::string_view event);

}  // namespace mlrun::probes
