// SPDX-License-Identifier: Apache-2.0
// Which of the programs for the kernel's tracepoints are loaded on this kernel, for what was asked for.
#pragma once

#include <string_view>
#include <vector>

#include "kprobes/attach/function_types.h"
#include "kprobes/attach/probes.h"

struct bpf_object;
struct bpf_program;

namespace mlrun::probes {

// Programs for events that this kernel does not have, or that nobody asked for, are left out before the load. In the object's order.
std::vector<ProgramState> choose_tracepoint_programs(bpf_object* object, const Streams& streams, FunctionTypes& events);

// Not of a function of the kernel or of a library.
bool is_for_tracepoint(const bpf_program* program);

// Without it there is nothing to tell.
bool is_needed(std::string_view program);

}  // namespace mlrun::probes
