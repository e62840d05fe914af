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

// Disables the load of programs whose event this kernel lacks or that were not requested. Returns states in the
// object's order; some programs that were not requested have none.
std::vector<ProgramState> choose_tracepoint_programs(bpf_object* object, const Streams& streams, FunctionTypes& events);

// False for programs on functions of the kernel or of libraries.
bool is_for_tracepoint(const bpf_program* program);

// True: mlrun-probes refuses to start if this program cannot be attached.
bool is_needed(std::string_view program);

}  // namespace mlrun::probes
