// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/log_writers.h"

#include <optional>
#include <string>
#include <vector>

#include "runner/trace/marks/log_writes.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

namespace {

// The writes to the logs at `paths`. nullopt: the spool cannot be read.
std::optional<LogWrites> find_log_writes(SpoolIndex& index, const std::vector<std::string>& paths,
                                         const model::FileTable& files, uint64_t rows_at_once) {
  LogWrites writes(paths, files);
  SliceReader reader(index);
  SliceRows slice_rows;
  const auto slices =
      index.frame_ranges().slices(rows_at_once, [&](const Slice& slice) { return reader.count(slice); });
  if (!slices) return std::nullopt;
  for (const Slice& slice : *slices) {
    if (!reader.read(slice, slice_rows)) return std::nullopt;
    for (const model::CallRow& row : slice_rows.calls) writes.add(row);
  }
  writes.finish();
  return writes;
}

}  // namespace

Mllog read_logs(SpoolIndex& index, const SessionInfo& session, const model::FileTable& files, uint64_t rows_at_once) {
  MllogReader reader(index.clock());
  for (const std::string& path : session.mllog) reader.read_file(path);
  if (reader.is_ambiguous() && !session.run.options.summary_only) {
    const auto writers = find_log_writes(index, session.mllog, files, rows_at_once);
    if (writers) reader.find_writers(*writers);
  }
  return reader.finish(session.start_ns, session.end_ns != 0 ? session.end_ns : index.clock().last_ns());
}

}  // namespace mlrun::trace
