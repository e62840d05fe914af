// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/left_out.h"

#include <algorithm>
#include <map>

#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

int64_t bounded(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX / 4)); }

mlrun_left_out since(const mlrun_left_out& now, const mlrun_left_out& before) {
  return {now.calls - before.calls, now.bytes_read - before.bytes_read, now.bytes_written - before.bytes_written,
          now.time - before.time};
}

}  // namespace

std::vector<model::LeftOutRow> find_left_out(SpoolIndex& index) {
  std::map<int32_t, model::LeftOutRow> rows;  // by process
  for (const Channel& channel : index.channels().all()) {
    mlrun_left_out totals = channel.left_out;
    if (channel.begins_late) totals = since(totals, channel.first_left_out);
    if (totals.calls == 0) continue;
    model::LeftOutRow& row = rows[channel.origin.proc_id];
    row.proc_id = channel.origin.proc_id;
    row.reason = "path rules";
    util::add_to(row.calls, bounded(totals.calls));
    util::add_to(row.bytes_read, bounded(totals.bytes_read));
    util::add_to(row.bytes_written, bounded(totals.bytes_written));
    util::add_to(row.time_ns,
                 channel.clock_kind == MLRUN_CLOCK_TSC ? index.clock().length_ns(totals.time) : bounded(totals.time));
  }
  std::vector<model::LeftOutRow> list;
  list.reserve(rows.size());
  for (const auto& [proc_id, row] : rows) list.push_back(row);
  return list;
}

}  // namespace mlrun::trace
