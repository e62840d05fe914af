// SPDX-License-Identifier: Apache-2.0
// The rows of `access` and `access_site` (runner/trace/TABLES.md).
#pragma once

#include <cstdint>
#include <optional>

#include "runner/events/access_sample.h"
#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/access/live_blocks.h"

namespace mlrun::trace {

struct AccessRow {
  mlrun_access_sample sample{};
  model::Origin who;
  int64_t ts_ns = 0, dur_ns = 0;  // start and length of the window of the sample; length 0: a single access
  bool has_block = false;         // the row is about one block, which the next two identify
  uint64_t block_address = 0;
  int64_t block_ts_ns = 0;
  bool is_joined = false;  // some listed block was there
  bool has_site = false;   // all blocks that the row is about are of `site`
  AllocSite site;
  bool is_first = false;  // of a fault: the first recorded one of its page since the block was allocated (note_fault)
};

// Sums of one rung (method of --access) for the blocks of one allocation site.
struct AccessSiteRow {
  AllocSite site;
  uint16_t rung = 0;
  int64_t blocks = 0, bytes = 0, lifetime_ns = 0;  // summed over blocks
  double byte_s = 0, seen_byte_s = 0, touched_byte_s = 0;
  double shared_byte_s = 0;  // in windows that several sites share and that were touched in part: attributed to none
  int64_t pages = 0, touched_pages = 0;  // 0 for rungs that do not record page faults
  int64_t samples = 0, loads = 0, stores = 0, faults = 0;
  int64_t remote = 0, with_source = 0;  // samples of memory on another node; samples with a known data source
  double latency_sum = 0;               // cycles, of the with_latency loads that have a latency
  int64_t with_latency = 0;

  // Adds the sums of another row of that rung.
  void add(const AccessSiteRow& other);
  // Empty: the rung could not tell.
  [[nodiscard]] std::optional<double> hot_fraction() const;
};

struct AccessColumns;
using AccessTable = tables::RowTable<AccessColumns, AccessRow>;
struct AccessSiteColumns;
using AccessSiteTable = tables::RowTable<AccessSiteColumns, AccessSiteRow>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::AccessColumns, mlrun::trace::AccessRow>;
extern template class mlrun::tables::RowTable<mlrun::trace::AccessSiteColumns, mlrun::trace::AccessSiteRow>;
