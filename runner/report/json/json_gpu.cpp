// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_gpu.h"

#include <nlohmann/json.hpp>

#include "runner/report/json/json_row.h"
#include "runner/summary/tables/gpu_rows.h"

namespace mlrun::report {
using Json = nlohmann::ordered_json;

Json gpu_work_json(const summary::Summary& summary) {
  return {{"devices", rows_json(summary.gpu_work)},  {"kernels", rows_json(summary.gpu_kernels)},
          {"marks", rows_json(summary.gpu_marks)},   {"memory", rows_json(summary.gpu_memory)},
          {"stacks", rows_json(summary.gpu_stacks)}, {"host_buffers", rows_json(summary.gpu_hosts)}};
}

}  // namespace mlrun::report
