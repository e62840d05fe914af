// SPDX-License-Identifier: Apache-2.0
// How processes ended that told of their end, and how those that did not.
#pragma once

#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/block_scan.h"
#include "runner/trace/channel_table.h"

namespace mlrun::trace {

// Completes `end` of processes that have not told of an exit: running, no exit, or nothing where the word may have been
// lost. Requires: the channels have their origins, and what was lost of them is known. `only_newest`: older events
// were freed.
void tell_ends(std::vector<model::ProcessRow>& processes, const ChannelTable& channels,
               const std::vector<OfChannel<mlrun_frame_gap>>& gaps, bool only_newest);

}  // namespace mlrun::trace
