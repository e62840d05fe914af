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
  int64_t ts_ns = 0, dur_ns = 0;  // of a window its begin and length
  bool has_block = false;         // of one block: these two
  uint64_t block_address = 0;
  int64_t block_ts_ns = 0;
  bool has_site = false;  // all that it is about belongs to blocks of this site
  AllocSite site;
  bool is_first = false;  // of a fault: the first one of its page since the block was there
};

// What one rung saw of the blocks of one site.
struct AccessSiteRow {
  AllocSite site;
  uint16_t rung = 0;
  int64_t blocks = 0, bytes = 0, lifetime_ns = 0;  // summed over blocks
  double byte_s = 0, seen_byte_s = 0, touched_byte_s = 0;
  int64_t pages = 0, touched_pages = 0;  // of blocks that events can be joined with
  int64_t samples = 0, loads = 0, stores = 0, faults = 0;
  int64_t remote = 0, with_source = 0;  // samples of another node; of a known source
  double latency_sum = 0;               // cycles, over loads with one
  int64_t with_latency = 0;

  [[nodiscard]] std::optional<double> hot_fraction() const;
};

struct AccessColumns;
using AccessTable = RowTable<AccessColumns, AccessRow>;
extern template class RowTable<AccessColumns, AccessRow>;
struct AccessSiteColumns;
using AccessSiteTable = RowTable<AccessSiteColumns, AccessSiteRow>;
extern template class RowTable<AccessSiteColumns, AccessSiteRow>;

}  // namespace mlrun::trace
