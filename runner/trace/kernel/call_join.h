// SPDX-License-Identifier: Apache-2.0
// The kernel side's records that calls are joined with. Thread-safe after sort() or finish() of each member.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/model/rows.h"
#include "runner/trace/files/reused_inodes.h"
#include "runner/trace/kernel/page_adds.h"
#include "runner/trace/kernel/record_calls.h"

namespace mlrun::trace {

struct CallJoin {
  RecordCalls fragments, file_ops, remotes;
  PageAdds pages;
  ReusedInodes reused;

  // Called for every call with its number; returns the call's page cache reads.
  std::optional<ReadPages> call(const model::CallRow& row, int64_t call_id) {
    fragments.call(row, call_id);
    file_ops.call(row, call_id);
    remotes.call(row, call_id);
    reused.call(row);
    return pages.of(row);
  }

  // Called for a call that has no row of its own (--fold).
  void unlisted(const model::CallRow& row) {
    for (RecordCalls* calls : {&fragments, &file_ops, &remotes}) calls->call(row, RecordCalls::kUnlisted);
    reused.call(row);
  }
};

}  // namespace mlrun::trace
