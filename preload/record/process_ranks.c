// SPDX-License-Identifier: Apache-2.0
#include "preload/record/process_ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "runner/events/record.h"

enum number { kRank, kLocalRank, kWorldSize, kNumbers };

static const unsigned kBits[kNumbers] = {20, 16, 20};

struct variable {
  const char *name;
  unsigned char number, launcher;
};

// In the order of preference: for each number the first variable that is set to a usable number counts.
static const struct variable kVariables[] = {
    {"RANK", kRank, MLRUN_LAUNCHER_TORCH},
    {"LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_TORCH},
    {"WORLD_SIZE", kWorldSize, MLRUN_LAUNCHER_TORCH},
    {"OMPI_COMM_WORLD_RANK", kRank, MLRUN_LAUNCHER_OPEN_MPI},
    {"OMPI_COMM_WORLD_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_OPEN_MPI},
    {"OMPI_COMM_WORLD_SIZE", kWorldSize, MLRUN_LAUNCHER_OPEN_MPI},
    {"MV2_COMM_WORLD_RANK", kRank, MLRUN_LAUNCHER_MVAPICH},
    {"MV2_COMM_WORLD_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_MVAPICH},
    {"MV2_COMM_WORLD_SIZE", kWorldSize, MLRUN_LAUNCHER_MVAPICH},
    {"PALS_RANKID", kRank, MLRUN_LAUNCHER_PALS},
    {"PALS_LOCAL_RANKID", kLocalRank, MLRUN_LAUNCHER_PALS},
    {"PALS_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_PALS},
    {"PALS_SIZE", kWorldSize, MLRUN_LAUNCHER_PALS},
    {"JSM_NAMESPACE_RANK", kRank, MLRUN_LAUNCHER_JSM},
    {"JSM_NAMESPACE_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_JSM},
    {"JSM_NAMESPACE_SIZE", kWorldSize, MLRUN_LAUNCHER_JSM},
    {"FLUX_TASK_RANK", kRank, MLRUN_LAUNCHER_FLUX},
    {"FLUX_TASK_LOCAL_ID", kLocalRank, MLRUN_LAUNCHER_FLUX},
    {"FLUX_JOB_SIZE", kWorldSize, MLRUN_LAUNCHER_FLUX},
    {"PMI_RANK", kRank, MLRUN_LAUNCHER_PMI},
    {"PMI_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_PMI},
    {"MPI_LOCALRANKID", kLocalRank, MLRUN_LAUNCHER_PMI},
    {"PMI_SIZE", kWorldSize, MLRUN_LAUNCHER_PMI},
    {"PMIX_RANK", kRank, MLRUN_LAUNCHER_PMIX},
    {"PMIX_LOCAL_RANK", kLocalRank, MLRUN_LAUNCHER_PMIX},
    {"PMIX_SIZE", kWorldSize, MLRUN_LAUNCHER_PMIX},
    {"SLURM_PROCID", kRank, MLRUN_LAUNCHER_SLURM},
    {"SLURM_LOCALID", kLocalRank, MLRUN_LAUNCHER_SLURM},
    {"SLURM_STEP_NUM_TASKS", kWorldSize, MLRUN_LAUNCHER_SLURM},
    {"SLURM_NTASKS", kWorldSize, MLRUN_LAUNCHER_SLURM},
    {"SLURM_NPROCS", kWorldSize, MLRUN_LAUNCHER_SLURM},
};

enum { kVariableCount = sizeof kVariables / sizeof *kVariables };

// The number + 1; 0: the text is not a number, or it exceeds the field.
static uint64_t after(const char *text, unsigned bits) {
  uint64_t number = 0, most = (1ull << bits) - 2;
  if (!*text) return 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return 0;
    number = number * 10 + (uint64_t)(*text - '0');
    if (number > most) return 0;
  }
  return number + 1;
}

// Quick check: most entries begin with none of these letters.
static bool may_be_one(char first) { return first && strchr("FJLMOPRSW", first); }

struct process_ranks process_ranks_read(char **environment) {
  struct {
    size_t place;
    uint64_t after;
  } found[kNumbers] = {{kVariableCount, 0}, {kVariableCount, 0}, {kVariableCount, 0}};
  for (; *environment; environment++) {
    const char *entry = *environment;
    if (!may_be_one(*entry)) continue;
    for (size_t i = 0; i < kVariableCount; i++) {
      const struct variable *v = &kVariables[i];
      if (i >= found[v->number].place || *entry != *v->name) continue;
      size_t length = strlen(v->name);
      if (strncmp(entry, v->name, length) || entry[length] != '=') continue;
      uint64_t number = after(entry + length + 1, kBits[v->number]);
      if (number) found[v->number].place = i, found[v->number].after = number;
    }
  }
  uint64_t size = found[kWorldSize].after ? found[kWorldSize].after - 1 : 0;
  size_t of_rank = found[kRank].place;
  return (struct process_ranks){found[kRank].after << 8 | found[kLocalRank].after << 28 | size << 44,
                                of_rank < kVariableCount ? kVariables[of_rank].launcher : 0};
}
