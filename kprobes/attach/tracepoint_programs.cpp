// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/tracepoint_programs.h"

#include <bpf/libbpf.h>

#include <array>
#include <string>
#include <utility>

#include "kprobes/attach/privilege.h"
#include "kprobes/attach/program_targets.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr std::string_view kTracepoint = "tp_btf/";
constexpr std::array<std::string_view, 15> kWaitPrograms = {"on_switch",     "on_switch_without_state",
                                                            "on_waking",     "on_bio_placed",
                                                            "on_bio_behind", "on_bio_before",
                                                            "on_9p_begin",   "on_9p_end",
                                                            "on_rpc_begin",  "on_rpc_end",
                                                            "on_fuse_begin", "on_fuse_end",
                                                            "on_throttle",   "on_throttle_without_control",
                                                            "on_9p_message"};
constexpr std::array<std::string_view, 3> kSyscallPrograms = {"on_exec", "on_syscall_enter", "on_syscall_exit"};
constexpr std::array<std::string_view, 2> kFileCallPrograms = {"on_file_call", "on_file_call_end"};
constexpr std::string_view kRightsProgram = "on_exec_with_rights";
constexpr std::array<std::string_view, 3> kObservePrograms = {"on_task_begin", "on_task_exec", "on_task_end"};
constexpr size_t kSwitchArgumentsWithState = 4, kThrottleArgumentsWithControl = 8;
constexpr std::array<std::string_view, 5> kNeeded = {"on_fork", "on_bio_queue", "on_request_issue",
                                                     "on_request_complete", kRightsProgram};

// True: this kernel needs another program instead of this one, for the same purpose.
bool has_replacement(std::string_view program, FunctionTypes& events) {
  const bool has_folios = events.find_event("writeback_dirty_folio", "").has_value();
  if (program == (has_folios ? "on_dirty_page" : "on_dirty_folio")) return true;
  const bool has_control = events.event_arguments("balance_dirty_pages") <= kThrottleArgumentsWithControl;
  if (program == (has_control ? "on_throttle_without_control" : "on_throttle")) return true;
  const bool has_state = events.event_arguments("sched_switch") >= kSwitchArgumentsWithState;
  return program == (has_state ? "on_switch_without_state" : "on_switch");
}

}  // namespace

std::vector<ProgramState> choose_tracepoint_programs(bpf_object* object, const Streams& streams,
                                                     FunctionTypes& events) {
  std::vector<ProgramState> programs;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (!is_for_tracepoint(program)) continue;
    const std::string_view section = ::bpf_program__section_name(program);
    ProgramState state{::bpf_program__name(program), std::string(section.substr(kTracepoint.size())), {}};
    if (util::is_one_of(state.name, kFileCallPrograms)) continue;  // FileSyscalls decides about these
    state.replaced = has_replacement(state.name, events);
    if ((!streams.syscalls && util::is_one_of(state.name, kSyscallPrograms)) ||
        (is_root() && state.name == kRightsProgram)) {
      ::bpf_program__set_autoload(program, false);
      continue;
    }
    // libmlrun_preload.so records the starts of the processes that it is in, but LibraryWatch needs them at once.
    const bool unasked = !streams.observes && !streams.any_library() && util::is_one_of(state.name, kObservePrograms);
    state.replaced = state.replaced || unasked;
    if (unasked || (!streams.wait && util::is_one_of(state.name, kWaitPrograms))) {
      state.reason = kNotAskedFor;
    } else if (state.replaced || !events.find_event(state.event, module_of_event(state.event))) {
      state.reason = "this kernel has no such event";
    }
    if (!state.reason.empty()) ::bpf_program__set_autoload(program, false);
    programs.push_back(std::move(state));
  }
  return programs;
}

bool is_for_tracepoint(const bpf_program* program) {
  return std::string_view(::bpf_program__section_name(program)).starts_with(kTracepoint);
}

bool is_needed(std::string_view program) { return util::is_one_of(program, kNeeded); }

}  // namespace mlrun::probes
