// SPDX-License-Identifier: Apache-2.0
// The job of a scheduler or launcher in which mlrun itself runs, from environment variables. The library records the ranks of processes
// that mlrun starts (preload/record/process_ranks.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mlrun::session {

// Keys, each only where a variable has it: id, array_id, array_task, step, restarts (texts); nodes, node, rank, local_rank, world_size
// (numbers); source: the variable of each. Empty object: no job.
nlohmann::json job_facts();

}  // namespace mlrun::session
