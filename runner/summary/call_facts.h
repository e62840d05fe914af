// SPDX-License-Identifier: Apache-2.0
// What a call row means to the summary: its class, its group, and the bytes it moved.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/events/call_class.h"
#include "runner/model/rows.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

struct CallFacts {
  Group group = Group::kFiles;
  bool is_read = false, is_write = false;
  bool is_metadata = false;  // open, close, seek, attributes and names: moves no data
  bool failed = false;
  int64_t bytes = 0;    // moved; 0 when it failed
  int64_t offset = -1;  // -1: not known
};

[[nodiscard]] inline Group group_of(const model::CallRow& row, mlrun_call_class call_class) {
  if (call_class == MLRUN_CLASS_PROCESS) return Group::kOther;
  if (row.file_id == 0 && (call_class == MLRUN_CLASS_MAP || call_class == MLRUN_CLASS_FD)) return Group::kOther;
  switch (row.file_kind) {
    case model::FileKind::kFifo:
    case model::FileKind::kSocket:
    case model::FileKind::kCharacter:
    case model::FileKind::kAnonymous: return Group::kChannels;
    case model::FileKind::kUnknown:
    case model::FileKind::kRegular:
    case model::FileKind::kDirectory:
    case model::FileKind::kBlock:
    case model::FileKind::kLink: return Group::kFiles;
  }
  return Group::kFiles;
}

[[nodiscard]] inline CallFacts call_facts(const model::CallRow& row, mlrun_call_class call_class) {
  CallFacts facts;
  facts.group = group_of(row, call_class);
  facts.is_read = call_class == MLRUN_CLASS_READ;
  facts.is_write = call_class == MLRUN_CLASS_WRITE;
  facts.is_metadata = call_class == MLRUN_CLASS_OPEN || call_class == MLRUN_CLASS_CLOSE ||
                      call_class == MLRUN_CLASS_SEEK || call_class == MLRUN_CLASS_META;
  facts.failed = row.err != 0;
  if (facts.is_read || facts.is_write) facts.bytes = std::max<int64_t>(row.ret, 0);
  const bool known =
      row.offset_source != model::OffsetSource::kNone && row.offset_source != model::OffsetSource::kUnknown;
  if (known) facts.offset = row.offset;
  return facts;
}

inline void count(Totals& totals, const CallFacts& facts, int64_t dur_ns) {
  ++totals.calls;
  totals.errors += facts.failed;
  totals.read_calls += facts.is_read;
  totals.write_calls += facts.is_write;
  totals.metadata_calls += facts.is_metadata;
  totals.bytes_read += facts.is_read ? facts.bytes : 0;
  totals.bytes_written += facts.is_write ? facts.bytes : 0;
  totals.time_ns += dur_ns;
}

}  // namespace mlrun::summary
