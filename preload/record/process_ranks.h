// SPDX-License-Identifier: Apache-2.0
// The rank of a process among those that a launcher started, from its environment.
//
// Each number comes from the first variable that is set, in the order of enum mlrun_launcher: torchrun sets RANK in
// processes that srun or mpirun has numbered, and mpirun sets its variables in jobs of Slurm. Numbers that one launcher
// leaves out (srun with PMIx: the size) come from the next.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct process_ranks {
  uint64_t word;      // MLRUN_PW_RANK
  uint64_t launcher;  // enum mlrun_launcher of the rank; 0: no rank
};

struct process_ranks process_ranks_read(char **environment);

#pragma GCC visibility pop
