// SPDX-License-Identifier: Apache-2.0
// The summary's view of a call row: its class, its group, and the bytes it moved.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/events/call_class.h"
#include "runner/model/rows.h"
#include "runner/summary/summary.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

// Where a transfer began, relative to the end of the previous transfer (FileAccessPattern).
enum class Order : uint8_t { kUnknown, kSequential, kRandom };

struct CallFacts {
  Group group = Group::kFiles;
  bool is_read = false, is_write = false;
  bool is_metadata = false;  // open, close, seek, attributes and names: moves no data
  bool failed = false;
  int64_t bytes = 0;    // moved, in each of its directions; 0 if it failed
  int64_t offset = -1;  // -1: unknown
  Order order = Order::kUnknown;
  bool ends_file = false;  // a read that asked for bytes and got none
};

[[nodiscard]] inline bool is_channel(model::FileKind kind) {
  switch (kind) {
    case model::FileKind::kFifo:
    case model::FileKind::kPipe:
    case model::FileKind::kSocket:
    case model::FileKind::kCharacter:
    case model::FileKind::kAnonymous:
    case model::FileKind::kMemfd:
    case model::FileKind::kEventfd:
    case model::FileKind::kTimerfd:
    case model::FileKind::kSignalfd:
    case model::FileKind::kEpoll:
    case model::FileKind::kInotify:
    case model::FileKind::kPidfd: return true;
    case model::FileKind::kUnknown:
    case model::FileKind::kRegular:
    case model::FileKind::kDirectory:
    case model::FileKind::kBlock:
    case model::FileKind::kLink:
    case model::FileKind::kSharedMemory: return false;
  }
  return false;
}

[[nodiscard]] inline Group group_of(const model::CallRow& row, mlrun_call_class call_class) {
  if (call_class == MLRUN_CLASS_WAIT) return Group::kWaits;
  if (call_class == MLRUN_CLASS_PROCESS) return Group::kOther;
  if (row.file_id == 0 && (call_class == MLRUN_CLASS_MAP || call_class == MLRUN_CLASS_FD)) return Group::kOther;
  if (!is_channel(row.file_kind)) return Group::kFiles;
  return call_class == MLRUN_CLASS_COPY && !is_channel(row.file2_kind) ? Group::kFiles : Group::kChannels;
}

// A copy between a file and a channel is a read or a write of the file; between two files it is both.
[[nodiscard]] inline bool moves_in(const model::CallRow& row, mlrun_call_class call_class, Group group, bool reading) {
  if (call_class != MLRUN_CLASS_COPY) return call_class == (reading ? MLRUN_CLASS_READ : MLRUN_CLASS_WRITE);
  return group != Group::kFiles || !is_channel(reading ? row.file_kind : row.file2_kind);
}

[[nodiscard]] inline CallFacts call_facts(const model::CallRow& row, mlrun_call_class call_class) {
  CallFacts facts;
  facts.group = group_of(row, call_class);
  facts.is_read = moves_in(row, call_class, facts.group, true);
  facts.is_write = moves_in(row, call_class, facts.group, false);
  facts.is_metadata = call_class == MLRUN_CLASS_OPEN || call_class == MLRUN_CLASS_CLOSE ||
                      call_class == MLRUN_CLASS_SEEK || call_class == MLRUN_CLASS_META;
  facts.failed = row.err != 0;
  if (facts.is_read || facts.is_write) facts.bytes = std::max<int64_t>(row.ret, 0);
  facts.ends_file = facts.is_read && !facts.is_write && !facts.failed && row.ret == 0 && row.requested > 0;
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
  util::add_to(totals.bytes_read, facts.is_read ? facts.bytes : 0);
  util::add_to(totals.bytes_written, facts.is_write ? facts.bytes : 0);
  util::add_to(totals.time_ns, dur_ns);
}

// The totals of a sum of calls.
[[nodiscard]] inline Totals totals_of(const model::SumRow& sum, const CallFacts& facts) {
  return {sum.calls,
          facts.failed ? sum.calls : 0,
          facts.is_read ? sum.calls : 0,
          facts.is_write ? sum.calls : 0,
          facts.is_metadata ? sum.calls : 0,
          facts.is_read ? sum.bytes : 0,
          facts.is_write ? sum.bytes : 0,
          sum.time_ns};
}

}  // namespace mlrun::summary
