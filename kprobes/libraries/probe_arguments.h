// SPDX-License-Identifier: Apache-2.0
// Where a static probe's arguments are, of its note's text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {

// Of a text like `-8@%rdi 4@$1 8@-56(%rbp)`: width in bytes (negative: signed), and the operand as the assembler has it.
// nullopt: more than a layout holds, or of a form that is not known (with an index register, or beside the instruction
// pointer).
std::optional<std::vector<mlrun_probe_argument>> probe_arguments(std::string_view text);

}  // namespace mlrun::probes
