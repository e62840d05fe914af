// SPDX-License-Identifier: Apache-2.0
// Parses where a static probe has its arguments, from the text in its ELF note.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kprobes/bpf/shared.h"

namespace mlrun::probes {

// Parses a text like `-8@%rdi 4@$1 8@-56(%rbp)`: width in bytes (negative: signed), and the operand in assembler
// syntax. nullopt: more arguments than a layout holds, or an unknown form (an index register, or relative to the
// instruction pointer).
std::optional<std::vector<mlrun_probe_argument>> probe_arguments(std::string_view text);

}  // namespace mlrun::probes
