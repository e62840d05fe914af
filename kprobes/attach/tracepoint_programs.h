// SPDX-License-Identifier: Apache-2.0
// Chooses which tracepoint programs are loaded on this kernel for the requested streams.
#pragma once

#include <string_view>
#include <vector>

#include "kprobes/attach/function_types.h"
#include "kprobes/attach/probes.h"

struct bpf_object;
struct bpf_program;

namespace mlrun::probes {

// Disables autoload of programs whose event this kernel lacks or that are not asked for. In the object's order.
std::vector<ProgramState> choose_tracepoint_programs(bpf_object* object, const Streams& streams, FunctionTypes& events);

// False for programs of kernel or library functions.
bool is_for_tracepoint(const bpf_program* program);

// Without such a program mlrun-probes refuses to start.
bool is_needed(std::string_view program);

}  // namespace mlrun::probes
