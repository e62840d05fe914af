// SPDX-License-Identifier: Apache-2.0
// All rows of a node's table, batch by batch.
#pragma once

#include <string>
#include <utility>

#include "runner/nodes/stop_signals.h"
#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_reader.h"

namespace mlrun::nodes {

// take(batch) for each. Fails if the trace lacks the table, if it is damaged, and if the merge is stopped.
template <typename Take>
Status for_each_batch(const std::string& trace_folder, const char* table, trace::TableQuery query, Take take) {
  auto reader = trace::TableReader::open(trace_folder, table, std::move(query));
  if (!reader) return tl::make_unexpected(reader.error());
  for (;;) {
    if (Status goes_on = check_stopped(); !goes_on) return goes_on;
    auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    take(**batch);
  }
}

}  // namespace mlrun::nodes
