// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/program_targets.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>

namespace mlrun::probes {

namespace {

FunctionTypes* known_types = nullptr;  // of the last call; global because the handlers are registered only once

int prepare(bpf_program* program, bpf_prog_load_opts* options, long) {
  const std::string_view section = ::bpf_program__section_name(program);
  const std::string_view target = section.substr(section.find('/') + 1);
  const bool is_event = ::bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP;
  const auto place =
      is_event ? known_types->find_event(target, module_of_event(target)) : known_types->find(target, "");
  if (!place) return -ESRCH;
  options->attach_btf_id = place->type;
  options->attach_btf_obj_fd = static_cast<uint32_t>(place->module);
  return ::bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

// Registers prepare() for programs in sections of this name. Until the load they have another program type, because
// libbpf reads the kernel's types whenever an object has tracing programs. For such programs a newer libbpf cannot
// attach by section: use bpf_program__attach_trace().
void handle(const char* section, bpf_attach_type type) {
  libbpf_prog_handler_opts options{};
  options.sz = sizeof options;
  options.prog_prepare_load_fn = prepare;
  ::libbpf_register_prog_handler(section, BPF_PROG_TYPE_RAW_TRACEPOINT, type, &options);
}

}  // namespace

void set_program_targets(FunctionTypes& types) {
  const bool is_first = known_types == nullptr;
  known_types = &types;
  if (!is_first) return;
  handle("tp_btf/", BPF_TRACE_RAW_TP);
  handle("fentry/", BPF_TRACE_FENTRY);
  handle("fexit/", BPF_TRACE_FEXIT);
}

std::string_view module_of_event(std::string_view event) {
  if (event.starts_with("9p_")) return "9pnet";
  if (event.starts_with("rpc_")) return "sunrpc";
  return event.starts_with("fuse_") ? "fuse" : "";
}

}  // namespace mlrun::probes
