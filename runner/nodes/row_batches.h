// SPDX-License-Identifier: Apache-2.0
// All rows of a node's table, batch by batch, as long as the merge is not stopped.
#pragma once

#include <string>
#include <utility>

#include "runner/nodes/stop_handlers.h"
#include "runner/parquet/table_batches.h"

namespace mlrun::nodes {

// Calls take(batch) for each batch. Fails if the trace lacks the table, if the table is damaged, and if the merge is stopped.
template <typename Take>
Status for_each_batch_unless_stopped(const std::string& trace_folder, const char* table, tables::TableQuery query,
                                     Take take) {
  return tables::for_each_batch(trace_folder, table, std::move(query), [&](const arrow::RecordBatch& batch) {
    Status goes_on = check_stopped();
    if (goes_on) take(batch);
    return goes_on;
  });
}

}  // namespace mlrun::nodes
