// SPDX-License-Identifier: Apache-2.0
// The PID namespace that mlrun runs in. The BPF programs record process ids of this namespace (bpf/thread_numbers.h).
#pragma once

#include <cstdint>

#include "runner/util/result.h"

struct bpf_program;

namespace mlrun::probes {

// The inode of the namespace; 0: it is the initial one, or unknown.
uint32_t own_pid_namespace();

// Runs the BPF program find_pid_level once, in this process. In the initial namespace it does nothing. Requires:
// the program is loaded, unless this is the initial namespace.
Status find_pid_level(const bpf_program* program);

}  // namespace mlrun::probes
