// SPDX-License-Identifier: Apache-2.0
// The PID namespace that mlrun runs in. The BPF programs record its numbers (bpf/thread_numbers.h).
#pragma once

#include <cstdint>

#include "runner/util/result.h"

struct bpf_program;

namespace mlrun::probes {

// Its inode; 0: it is the initial one, or unknown.
uint32_t own_pid_namespace();

// Makes this process run `program` (find_pid_level) once. Requires: it is loaded, or the namespace is the initial one.
Status find_pid_level(const bpf_program* program);

}  // namespace mlrun::probes
