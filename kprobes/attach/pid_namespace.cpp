// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/pid_namespace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include <cerrno>

namespace mlrun::probes {

uint32_t own_pid_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFC;  // inode of the initial namespace on all kernels (PROC_PID_INIT_INO)
  struct stat own {};
  if (::stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == kFirst) return 0;
  return static_cast<uint32_t>(own.st_ino);
}

Status find_pid_level(const bpf_program* program) {
  if (own_pid_namespace() == 0) return {};
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  if (::bpf_prog_test_run_opts(::bpf_program__fd(program), &options) == 0) return {};
  return fail_errno("find the depth of mlrun's PID namespace", errno);
}

}  // namespace mlrun::probes
