// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/file_syscalls.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kprobes/bpf/shared.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

namespace {

constexpr const char* kEntryEvent = "sys_enter";
constexpr const char* kCast = "bpf_rdonly_cast";

// Whether the kernel allows bpf_rdonly_cast in programs of this type, shown by a small test program. Otherwise it would
// refuse all programs.
bool can_cast(FunctionTypes::Place event, uint32_t cast, uint32_t type) {
  const std::array<bpf_insn, 5> instructions = {
      bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 0},
      bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, static_cast<__s32>(type)},
      bpf_insn{BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, static_cast<__s32>(cast)},
      bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0}, bpf_insn{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = BPF_TRACE_RAW_TP;
  options.attach_btf_id = event.type;
  return util::UniqueFd(
             ::bpf_prog_load(BPF_PROG_TYPE_TRACING, nullptr, "GPL", instructions.data(), instructions.size(), &options))
      .valid();
}

// Writes a call of bpf_rdonly_cast in place of the load-time constant MLRUN_CAST_TO_COME. libbpf could do it from a declaration, but
// would read all of the kernel's types for that.
bool call_cast(bpf_program* program, uint32_t cast) {
  const bpf_insn* begin = ::bpf_program__insns(program);
  std::vector<bpf_insn> instructions(begin, begin + ::bpf_program__insn_cnt(program));
  for (bpf_insn& instruction : instructions) {
    const bool is_call = instruction.code == (BPF_JMP | BPF_CALL);
    if (!is_call || instruction.src_reg != 0 || instruction.imm != MLRUN_CAST_TO_COME) continue;
    instruction.src_reg = BPF_PSEUDO_KFUNC_CALL;
    instruction.imm = static_cast<__s32>(cast);
  }
  return ::bpf_program__set_insns(program, instructions.data(), instructions.size()) == 0;
}

}  // namespace

void FileSyscalls::choose(bpf_program* entered, bpf_program* left, FunctionTypes& types, bool is_wanted) {
  const bool has_events = types.find_event(kEntryEvent, "") && types.find_event("sys_exit", "");
  if (is_wanted && has_events) programs_ = {left, entered};
  if (is_wanted && !has_events) reason_ = "tracepoint: this kernel has no events of system calls";
  for (bpf_program* program : {entered, left}) ::bpf_program__set_autoload(program, this->is_wanted());
}

CastTypes FileSyscalls::read_by_loads(const btf* kernel, FunctionTypes& types) {
  if (!is_wanted()) return {};
  const auto event = types.find_event(kEntryEvent, ""), cast = types.find(kCast, "");
  const int file = ::btf__find_by_name_kind(kernel, "file", BTF_KIND_STRUCT);
  const int slot = ::btf__find_by_name_kind(kernel, "kiocb", BTF_KIND_STRUCT);
  if (!event || !cast || file <= 0 || slot <= 0) return {};
  const CastTypes found{static_cast<uint32_t>(file), static_cast<uint32_t>(slot)};
  const bool works = can_cast(*event, cast->type, found.slot) && call_cast(programs_.back(), cast->type);
  return works ? found : CastTypes{};
}

void FileSyscalls::attach(const std::function<Result<FileOps::Seen>()>& try_all) {
  if (!is_wanted()) return;
  for (bpf_program* program : programs_) {
    links_.emplace_back(::bpf_program__attach_trace(program));
    if (links_.back()) continue;
    reason_ = std::string("tracepoint: cannot be attached: ") + std::strerror(errno);
    return detach();
  }
  const auto seen = try_all();
  const bool saw_none = seen && std::all_of(seen->begin(), seen->end(), [](int records) { return records == 0; });
  if (saw_none) {
    reason_ = "tracepoint: attached, but a test of it recorded nothing";
    return detach();
  }
  works_ = true;
  for (uint32_t op = 0; seen && op < seen->size(); op++) {
    if (is_tried(op) && (*seen)[op] == 0) unseen_.emplace_back(file_op_name(op));
  }
}

}  // namespace mlrun::probes
