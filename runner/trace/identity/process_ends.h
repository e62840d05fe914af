// SPDX-License-Identifier: Apache-2.0
// Sets how processes ended, from exit records, wait results, or the lack of both.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/model/run.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/trace/spool/spool_channels.h"

namespace mlrun::trace {

// Sets `exit_status` and `end` (exit; no exit: killed by a signal) from the wait results of parents. Requires: the
// channels have their origins, the children their processes (parents.h).
void note_waits(std::vector<model::ProcessRow>& processes, const ProcessNotes& notes,
                const std::vector<Channel>& channels);

// Sets `end` of processes without an exit record and without a wait result: running, no record, or empty if the record
// may have been lost. Requires: the channels have their origins, and their losses are known. `only_newest`: older
// events were freed.
void set_ends(std::vector<model::ProcessRow>& processes, const SpoolChannels& channels,
              const std::vector<OfChannel<mlrun_frame_gap>>& gaps, bool only_newest);

// Clears an `end` of "no record" if exit records could not be written: for threads without a channel and processes without a clock, it is
// unknown which processes are affected.
void withdraw_ends(std::vector<model::ProcessRow>& processes, const model::Run& session);

// The command is the earliest process that has no parent in the trace. `wait_status`: -1 if unknown.
void note_exit_status(std::vector<model::ProcessRow>& processes, int64_t wait_status);

}  // namespace mlrun::trace
