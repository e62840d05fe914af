// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/probe_arguments.h"

#include <asm/ptrace.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

// At a probe the kernel has the registers in the layout of ptrace. Names by width: 8, 4, 2 and 1 bytes.
struct Register {
  std::array<std::string_view, 4> names;
  size_t offset;
};
constexpr std::array<Register, 16> kRegisters = {{
    {{"rax", "eax", "ax", "al"}, offsetof(pt_regs, rax)},
    {{"rbx", "ebx", "bx", "bl"}, offsetof(pt_regs, rbx)},
    {{"rcx", "ecx", "cx", "cl"}, offsetof(pt_regs, rcx)},
    {{"rdx", "edx", "dx", "dl"}, offsetof(pt_regs, rdx)},
    {{"rsi", "esi", "si", "sil"}, offsetof(pt_regs, rsi)},
    {{"rdi", "edi", "di", "dil"}, offsetof(pt_regs, rdi)},
    {{"rbp", "ebp", "bp", "bpl"}, offsetof(pt_regs, rbp)},
    {{"rsp", "esp", "sp", "spl"}, offsetof(pt_regs, rsp)},
    {{"r8", "r8d", "r8w", "r8b"}, offsetof(pt_regs, r8)},
    {{"r9", "r9d", "r9w", "r9b"}, offsetof(pt_regs, r9)},
    {{"r10", "r10d", "r10w", "r10b"}, offsetof(pt_regs, r10)},
    {{"r11", "r11d", "r11w", "r11b"}, offsetof(pt_regs, r11)},
    {{"r12", "r12d", "r12w", "r12b"}, offsetof(pt_regs, r12)},
    {{"r13", "r13d", "r13w", "r13b"}, offsetof(pt_regs, r13)},
    {{"r14", "r14d", "r14w", "r14b"}, offsetof(pt_regs, r14)},
    {{"r15", "r15d", "r15w", "r15b"}, offsetof(pt_regs, r15)},
}};

std::optional<uint16_t> register_at(std::string_view text) {
  if (!text.starts_with('%')) return std::nullopt;
  text.remove_prefix(1);
  for (const Register& one : kRegisters) {
    if (std::find(one.names.begin(), one.names.end(), text) != one.names.end())
      return static_cast<uint16_t>(one.offset);
  }
  return std::nullopt;
}

bool read_width(std::string_view text, mlrun_probe_argument& argument) {
  const auto width = util::whole_number<int64_t>(text);
  if (!width) return false;
  argument.is_signed = *width < 0;
  for (const int64_t bytes : {1, 2, 4, 8}) {
    if (*width == bytes || *width == -bytes) argument.bytes = static_cast<__u8>(bytes);
  }
  return argument.bytes != 0;
}

// -56(%rbp), or (%rax)
bool read_memory(std::string_view text, mlrun_probe_argument& argument) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return false;
  const auto base = register_at(text.substr(open + 1, text.size() - open - 2));
  const auto displacement = open == 0 ? std::optional<int64_t>(0) : util::whole_number<int64_t>(text.substr(0, open));
  if (!base || !displacement) return false;
  argument.place = MLRUN_ARGUMENT_MEMORY;
  argument.in_registers = *base;
  argument.value = *displacement;
  return true;
}

bool read_operand(std::string_view text, mlrun_probe_argument& argument) {
  if (text.starts_with('$')) {
    const auto value = util::whole_number<int64_t>(text.substr(1));
    argument.place = MLRUN_ARGUMENT_CONSTANT;
    argument.value = value.value_or(0);
    return value.has_value();
  }
  if (!text.starts_with('%')) return read_memory(text, argument);
  const auto held = register_at(text);
  argument.place = MLRUN_ARGUMENT_REGISTER;
  argument.in_registers = held.value_or(0);
  return held.has_value();
}

}  // namespace

std::optional<std::vector<mlrun_probe_argument>> probe_arguments(std::string_view text) {
  std::vector<mlrun_probe_argument> arguments;
  for (const std::string_view word : util::split(text, " ")) {
    const size_t at = word.find('@');
    mlrun_probe_argument argument{};
    const bool is_known = at != std::string_view::npos && read_width(word.substr(0, at), argument) &&
                          read_operand(word.substr(at + 1), argument);
    if (!is_known || arguments.size() == MLRUN_PROBE_ARGUMENTS_MAX) return std::nullopt;
    arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace mlrun::probes
