// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/function_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace mlrun::probes {

namespace {

constexpr const char* kLicense = "GPL";
constexpr std::string_view kAnyFunction = "vfs_read";
// r0 = 0; exit
constexpr std::array<bpf_insn, 2> kNothing = {bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
                                              bpf_insn{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
// Reads the cookie of its kprobe, by which a program knows the probed function, and returns 0.
constexpr std::array<bpf_insn, 3> kCookie = {bpf_insn{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_attach_cookie},
                                             kNothing[0], kNothing[1]};

tl::unexpected<Error> refused(const std::string& what) { return fail(what + ": " + std::strerror(errno)); }

util::UniqueFd load(const bpf_insn* instructions, size_t count, bpf_attach_type type, FunctionTypes::Place place) {
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = type;
  options.attach_btf_id = place.type;
  options.attach_btf_obj_fd = static_cast<uint32_t>(place.module);
  const char* name = type == BPF_TRACE_FENTRY ? "on_file_op_entry" : "on_file_op_exit";
  return util::UniqueFd(::bpf_prog_load(BPF_PROG_TYPE_TRACING, name, kLicense, instructions, count, &options));
}

// Uses the older of two system calls: the newer one accepts such programs only since Linux 5.19.
util::UniqueFd attach(int program) { return util::UniqueFd(::bpf_raw_tracepoint_open(nullptr, program)); }

// Sets the load-time constants (bpf/shared.h) to the function's facts. The verifier then knows which branches are taken:
// it follows only a few hundred instructions and removes the unreachable ones.
std::vector<bpf_insn> instructions_for(const bpf_program* program, const FileFunction& function,
                                       FunctionTypes::Place place) {
  const bpf_insn* begin = ::bpf_program__insns(program);
  std::vector<bpf_insn> instructions(begin, begin + ::bpf_program__insn_cnt(program));
  for (bpf_insn& instruction : instructions) {
    if (instruction.code != (BPF_ALU64 | BPF_MOV | BPF_K)) continue;
    switch (instruction.imm) {
      case MLRUN_COOKIE_TO_COME: instruction.imm = static_cast<__s32>(function.cookie()); break;
      case MLRUN_OP_TO_COME: instruction.imm = static_cast<__s32>(function.op); break;
      case MLRUN_GENERAL_TO_COME:
        instruction.imm = function.arguments == MLRUN_ARGUMENTS_GENERAL_ITERATOR ? 1 : 0;
        break;
      case MLRUN_RETURN_TO_COME: instruction.imm = place.returned_at; break;
      default: break;
    }
  }
  return instructions;
}

}  // namespace

// An fentry program is bound to its function at load, so each function has a copy.
Result<FunctionProbe> FunctionProbe::by_fentry(const FileOpPrograms& programs, const FileFunction& function,
                                               FunctionTypes::Place place) {
  if (place.returned_at > MLRUN_RETURN_AT_MOST)
    return fail("the function has more arguments than mlrun-probes can read");
  FunctionProbe probe;
  const bool iterates = function.has_iterator();
  const std::array<std::pair<const bpf_program*, bpf_attach_type>, 2> sides = {
      std::pair{iterates ? programs.iteration_entry : programs.entry, BPF_TRACE_FENTRY},
      {iterates ? programs.iteration_exit : programs.exit, BPF_TRACE_FEXIT}};
  for (size_t i = 0; i < sides.size(); i++) {
    const auto [program, type] = sides[i];
    if (i == 1 && !function.has_end()) continue;
    const auto instructions = instructions_for(program, function, place);
    probe.programs_[i] = load(instructions.data(), instructions.size(), type, place);
    if (!probe.programs_[i].valid()) return refused("cannot be loaded");
  }
  // Attaches the exit program first: an operation that begins before it is attached would have no end.
  for (const size_t i : {1, 0}) {
    if (i == 1 && !function.has_end()) continue;
    probe.links_[i] = attach(probe.programs_[i].get());
    if (!probe.links_[i].valid()) return refused("cannot be attached");
  }
  return probe;
}

Result<FunctionProbe> FunctionProbe::by_kprobe(const FileOpPrograms& programs, const FileFunction& function) {
  FunctionProbe probe;
  for (const size_t i : {1, 0}) {
    if (i == 1 && !function.has_end()) continue;
    bpf_kprobe_opts options{};
    options.sz = sizeof options;
    options.bpf_cookie = function.cookie();
    options.retprobe = i == 1;
    const bpf_program* program = i == 1 ? programs.returned : programs.call;
    probe.probes_[i].reset(::bpf_program__attach_kprobe_opts(program, std::string(function.name).c_str(), &options));
    if (!probe.probes_[i]) return refused("cannot be attached");
  }
  return probe;
}

uint64_t FunctionProbe::skipped() const {
  uint64_t times = 0;
  for (const util::UniqueFd& program : programs_) times += times_skipped(program.get());
  return times;
}

Status can_trace_functions(FunctionTypes& types) {
  const auto place = types.find(kAnyFunction, "");
  if (!place) return fail("this kernel's BTF has no functions");
  const auto program = load(kNothing.data(), kNothing.size(), BPF_TRACE_FENTRY, *place);
  if (!program.valid()) return refused("fentry");
  return {};
}

bool has_probe_cookies() {
  return util::UniqueFd(
             ::bpf_prog_load(BPF_PROG_TYPE_KPROBE, nullptr, kLicense, kCookie.data(), kCookie.size(), nullptr))
      .valid();
}

uint64_t times_skipped(int program) {
  bpf_prog_info info{};
  uint32_t bytes = sizeof info;
  return program >= 0 && ::bpf_obj_get_info_by_fd(program, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

Status can_probe_functions() {
  if (!has_probe_cookies()) return refused("kprobe");
  if (::access("/sys/bus/event_source/devices/kprobe/type", R_OK) != 0)
    return fail("kprobe: this kernel has no kprobe events (CONFIG_KPROBE_EVENTS)");
  return {};
}

}  // namespace mlrun::probes
