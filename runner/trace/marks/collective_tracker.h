// SPDX-License-Identifier: Apache-2.0
// Finds collectives among the ranges that NCCL makes in the NVTX domain "NCCL", by the names of their payload members:
// a range with a message size is a collective, a send or a receive; one with a rank defines the process's rank in a
// communicator.
//
// A process counts the collectives of a communicator from 0: NCCL requires that all ranks call them in the same order,
// so equal numbers mean the same collective on all ranks. An uncertain number is omitted. These have no number:
//
//   - sends and receives, which involve only two ranks;
//   - collectives of a process that is, or may be, several ranks of one communicator;
//   - collectives after a loss of records of their process, unless the communicator's creation was recorded after it.
//
// If a communicator is created in a group, non-blocking or by ncclCommSplit, the creating call does not know its
// ID. The communicator appears with its first collective, and the process's rank in it is unknown.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/collective.h"
#include "runner/summary/meters/collective_meter.h"
#include "runner/trace/marks/collective_table.h"
#include "runner/trace/marks/payload_layout.h"
#include "runner/trace/spool/loss_count.h"

namespace mlrun::trace {

class CollectiveTracker {
 public:
  explicit CollectiveTracker(std::vector<PositionLoss> losses) : losses_(std::move(losses)) {}

  // Call before the first row; otherwise rows are only summed up.
  void write_to(std::string tables_folder) { table_.write_to(std::move(tables_folder)); }

  // Adds a range with its payload, which is empty if it could not be decoded; the name must be in the row. Requires: in
  // order of their ends.
  void add(const model::MarkRow& range, const std::vector<PayloadValue>& payload);

  // A range of the process, possibly a collective, was dropped.
  void lost(int32_t proc_id) { losses_.add(proc_id); }

  // Returns the first write error. Call once.
  Status finish();
  [[nodiscard]] summary::CollectiveMeter& meter() { return meter_; }
  // Collectives without a number that should have one. Requires: all rows were added.
  [[nodiscard]] std::vector<model::CoverageRow> coverage() const;

 private:
  struct Membership {
    std::optional<int64_t> rank, ranks;
    bool is_several = false;  // the process is several of its ranks
    uint32_t losses = 0;      // loss count of its process at its creation; 0: creation not recorded
    int64_t collectives = 0;
  };
  struct Process {
    std::optional<int64_t> unnamed_rank;  // in communicators whose creating call did not know their ID
    bool is_several = false;              // several ranks of a communicator, so possibly also of those created from it
  };
  Membership* membership(int32_t proc_id, uint64_t communicator);
  void note_rank(const model::MarkRow& range, const std::vector<PayloadValue>& payload);
  void place(model::CollectiveRow& row, uint64_t communicator);

  LossCount losses_;
  std::unordered_map<uint64_t, Membership> memberships_;  // by process and communicator
  std::unordered_map<int32_t, Process> processes_;
  int64_t after_losses_ = 0, beyond_ = 0;  // collectives without a number
  CollectiveTable table_;
  summary::CollectiveMeter meter_;
  Status written_;
};

}  // namespace mlrun::trace
