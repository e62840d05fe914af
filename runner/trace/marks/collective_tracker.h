// SPDX-License-Identifier: Apache-2.0
// Collectives out of the ranges that NCCL makes in NVTX's domain "NCCL", by the names of their payload's members: what
// has a message size is a collective or a send or receive; what has a rank tells who the process is in a communicator.
//
// A process counts the collectives of a communicator from 0: NCCL asks that all ranks call them in the same order, so
// the same number is the same collective everywhere. Rather no number than a wrong one. None have
//
//   - sends and receives, which only two ranks make;
//   - a process that is, or may be, several ranks of one communicator;
//   - a communicator from the moment on at which its process has lost records, and one that was not seen being made
//     in a process that has.
//
// A communicator that is made in a group, without waiting or by ncclCommSplit has no number yet when the call that
// makes it tells of it. It is met with its first collective, and what rank the process is in it is not known.
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

  // To be called before the first row; else rows are only added up.
  void write_to(std::string tables_folder) { table_.write_to(std::move(tables_folder)); }

  // A range with its payload, which is empty where it could not be told; the name has to stand in the row. In the order
  // of their ends.
  void add(const model::MarkRow& range, const std::vector<PayloadValue>& payload);

  // A range of the process was left out, which may have been a collective.
  void lost(int32_t proc_id) { losses_.add(proc_id); }

  // Whether all rows could be written. To be called once.
  Status finish();
  [[nodiscard]] summary::CollectiveMeter& meter() { return meter_; }
  // What has no number though it should. All rows have been added.
  [[nodiscard]] std::vector<model::CoverageRow> coverage() const;

 private:
  struct Membership {
    std::optional<int64_t> rank, ranks;
    bool is_several = false;  // ranks in one process
    uint32_t losses = 0;      // of its process when it was made; 0: that was not seen
    int64_t collectives = 0;
  };
  struct Process {
    std::optional<int64_t> unnamed_rank;  // in communicators that were made without a number
    bool is_several = false;              // ranks of a communicator, and so perhaps of those that are made from it
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
