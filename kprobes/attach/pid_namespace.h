// SPDX-License-Identifier: Apache-2.0
// The PID namespace that mlrun runs in. What the BPF programs tell is in its numbers (bpf/thread_numbers.h).
#pragma once

#include <cstdint>

#include "runner/util/result.h"

struct bpf_program;

namespace mlrun::probes {

// Its inode; 0: it is the machine's first one, or cannot be told.
uint32_t own_pid_namespace();

// Has `program` (find_pid_level) run once by this process. Requires: it is loaded, or the namespace is the first one.
Status find_pid_level(const bpf_program* program);

}  // namespace mlrun::probes
