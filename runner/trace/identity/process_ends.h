// SPDX-License-Identifier: Apache-2.0
// How processes ended that told of their end, and how those that did not.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/identity/process_facts.h"
#include "runner/trace/spool/block_scan.h"
#include "runner/trace/spool/session_info.h"
#include "runner/trace/spool/spool_channels.h"

namespace mlrun::trace {

// How processes ended as their parents' waits returned it: `exit_status`, and `end` (exit, or no exit: by a signal). Requires:
// the channels have their origins, the children their processes (parents.h).
void note_waits(std::vector<model::ProcessRow>& processes, const ProcessNotes& notes,
                const std::vector<Channel>& channels);

// Completes `end` of processes without an exit record and without the result of a wait: running, no record, or nothing
// where the record may have been lost. Requires: the channels have their origins, and what was lost of them is known.
// `only_newest`: older events were freed.
void tell_ends(std::vector<model::ProcessRow>& processes, const ChannelTable& channels,
               const std::vector<OfChannel<mlrun_frame_gap>>& gaps, bool only_newest);

// Who could not say a last word is not known one by one: threads that found no channel, and processes without a clock.
void withdraw_ends(std::vector<model::ProcessRow>& processes, const SessionInfo& session);

// The command is the process that came first and has no parent in the trace. `wait_status`: -1 where it is not known.
void note_exit_status(std::vector<model::ProcessRow>& processes, int64_t wait_status);

}  // namespace mlrun::trace
