// SPDX-License-Identifier: Apache-2.0
#include "runner/session/job_facts.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::session {

namespace {

struct Variable {
  const char *key, *name;
  bool is_number;
};

constexpr const char *kRank = "rank", *kLocalRank = "local_rank", *kWorldSize = "world_size";

// For each key the first variable that is set counts. Ids of a job: the scheduler's before a launcher's, since all nodes of a job have it,
// by any launcher of its ranks.
constexpr std::array kVariables = {
    Variable{"id", "SLURM_JOB_ID", false},
    Variable{"id", "PBS_JOBID", false},
    Variable{"id", "LSB_JOBID", false},
    Variable{"id", "FLUX_JOB_ID", false},
    Variable{"id", "TORCHELASTIC_RUN_ID", false},
    Variable{"id", "PMIX_NAMESPACE", false},
    Variable{"id", "OMPI_MCA_ess_base_jobid", false},
    Variable{"id", "PMI_JOBID", false},
    Variable{"array_id", "SLURM_ARRAY_JOB_ID", false},
    Variable{"array_task", "SLURM_ARRAY_TASK_ID", false},
    Variable{"step", "SLURM_STEP_ID", false},
    Variable{"restarts", "SLURM_RESTART_COUNT", false},
    Variable{"nodes", "SLURM_STEP_NUM_NODES", true},
    Variable{"nodes", "SLURM_JOB_NUM_NODES", true},
    Variable{"nodes", "SLURM_NNODES", true},
    Variable{"node", "GROUP_RANK", true},
    Variable{"node", "SLURM_NODEID", true},
#define VARIABLE(name, number, launcher) Variable{number, name, true},
#include "runner/events/launchers.def"
};

}  // namespace

nlohmann::json job_facts() {
  nlohmann::json job = nlohmann::json::object();
  for (const Variable& variable : kVariables) {
    const char* value = std::getenv(variable.name);
    if (value == nullptr || *value == '\0' || job.contains(variable.key)) continue;
    const std::string_view text(value);
    if (variable.is_number) {
      const int64_t number = util::whole_number<int64_t>(text).value_or(-1);
      if (number < 0) continue;
      job[variable.key] = number;
    } else {
      job[variable.key] = util::escaped_utf8(text);
    }
    job["source"][variable.key] = variable.name;
  }
  return job;
}

}  // namespace mlrun::session
