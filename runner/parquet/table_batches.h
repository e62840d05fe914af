// SPDX-License-Identifier: Apache-2.0
// All rows of a table, batch by batch.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "runner/parquet/batch_columns.h"
#include "runner/parquet/table_reader.h"

namespace mlrun::tables {

// Calls take(batch) for each batch that the reader has left. take may return a Status: an error ends the pass. Fails if the trace is damaged.
template <typename Take>
Status for_each_batch(TableReader& reader, Take take) {
  for (;;) {
    auto batch = reader.next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    if constexpr (std::is_void_v<decltype(take(**batch))>) {
      take(**batch);
    } else if (Status taken = take(**batch); !taken) {
      return taken;
    }
  }
}

// Calls take(batch) for all batches of a table. Also fails if the trace lacks the table or a requested column.
template <typename Take>
Status for_each_batch(const std::string& trace_folder, const std::string& table, TableQuery query, Take take) {
  auto reader = TableReader::open(trace_folder, table, std::move(query));
  if (!reader) return tl::make_unexpected(reader.error());
  return for_each_batch(*reader, std::move(take));
}

// Like for_each_batch, but a table without files counts as empty: older traces lack some tables, and a sweep deletes some.
template <typename Take>
Status for_each_batch_if_any(const std::string& trace_folder, const std::string& table, TableQuery query, Take take) {
  if (!has_table(trace_folder + "/tables", table)) return {};
  return for_each_batch(trace_folder, table, std::move(query), std::move(take));
}

}  // namespace mlrun::tables
