// SPDX-License-Identifier: Apache-2.0
// Gives libbpf the kernel function or tracepoint that each BPF program is for, from the names in FunctionTypes.
// Otherwise libbpf would read all kernel types again and search them for each program.
#pragma once

#include "kprobes/attach/function_types.h"

namespace mlrun::probes {

// To be called before each BPF object is opened. Requires: `types` lives until that object is loaded.
void set_program_targets(FunctionTypes& types);

// The module that has the event; empty: the kernel itself.
std::string_view module_of_event(std::string_view event);

}  // namespace mlrun::probes
