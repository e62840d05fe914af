// SPDX-License-Identifier: Apache-2.0
// The builder's input with --summary-only: sums instead of rows.
#include <algorithm>
#include <utility>

#include "runner/summary/meters/builder_state.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

void Builder::State::add_files(const model::SumRow& sum, const CallFacts& facts) {
  if (calls.call_class(sum.call.func) != MLRUN_CLASS_COPY) return files.add(sum.call.file_id, totals_of(sum, facts));
  CallFacts side = facts;
  side.is_write = false;
  if (facts.is_read) files.add(sum.call.file_id, totals_of(sum, side));
  side = facts;
  side.is_read = false;
  if (facts.is_write) files.add(sum.call.file2_id, totals_of(sum, side));
  if (facts.is_read && facts.is_write) files.add_shared(sum.call.file_id, sum.call.file2_id, totals_of(sum, facts));
}

void Builder::add(const model::SumRow& sum) {
  State& s = *state_;
  if (sum.op != 0) {
    util::add_to(s.alloc_rows, sum.calls);
    s.sites.add(sum);
    return;
  }
  const mlrun_call_class call_class = s.calls.call_class(sum.call.func);
  model::CallRow row = sum.call;
  if (sum.of_several_files && row.file_id == 0) row.file_id = -1;  // one of several files
  const CallFacts facts = call_facts(row, call_class);
  util::add_to(s.call_rows, sum.calls);
  util::add_to(s.served_calls, sum.served_calls);
  State::Process& process = s.process(row.origin.proc_id);
  process.totals[size_t(facts.group)].add(totals_of(sum, facts));
  s.calls.add(sum, facts);
  if (facts.group == Group::kWaits) process.waits.add(row.func, sum.calls, sum.time_ns);
  if (facts.group != Group::kFiles) return;
  s.add_files(sum, facts);
  s.sites.add(sum);
}

void Builder::add_stretch(int32_t proc_id, int64_t moment_ns, const Totals& totals) {
  state_->phases.add(proc_id, moment_ns, totals);
}

void Builder::add_counted(int64_t mallocs, int64_t frees) {
  util::add_to(state_->counted_allocations, mallocs);
  util::add_to(state_->counted_frees, frees);
}

// Keeps the figures of the image with the highest peak; adds up the counts of allocations of all images.
void Builder::add_heap(int32_t proc_id, const HeapSum& heap) {
  std::optional<HeapSum>& sum = state_->process(proc_id).heap_sum;
  const int64_t recorded = heap.recorded_allocations + (sum ? sum->recorded_allocations : 0);
  const int64_t counted = heap.counted_allocations + (sum ? sum->counted_allocations : 0);
  if (!sum || heap.peak.bytes() > sum->peak.bytes()) sum = heap;
  sum->recorded_allocations = recorded;
  sum->counted_allocations = counted;
  state_->block_room.left_out_blocks = std::max(state_->block_room.left_out_blocks, heap.blocks_left_out);
  state_->block_room.left_out_bytes = std::max(state_->block_room.left_out_bytes, heap.bytes_left_out);
}

void Builder::settle_phases(std::vector<model::PhaseRow> phases) { state_->phases.settle(std::move(phases)); }

void Builder::set_timeline(int64_t start_ns, int64_t bin_ns, std::vector<TimeBin> bins) {
  state_->timeline = Timeline(start_ns, bin_ns, std::move(bins));
}

}  // namespace mlrun::summary
