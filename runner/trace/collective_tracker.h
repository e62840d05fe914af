// SPDX-License-Identifier: Apache-2.0
// Collectives out of the ranges that NCCL makes in NVTX's domain "NCCL", by the names of their payload's members: what
// has a message size is a collective or a send or receive; what has a rank tells who the process is in a communicator.
//
// A process counts the collectives of a communicator from 0: NCCL asks that all ranks call them in the same order, so
// the same number is the same collective everywhere. Not counted: sends and receives, which only two ranks make, and a
// process that is several ranks of one communicator.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/collective.h"
#include "runner/summary/collective_meter.h"
#include "runner/trace/collective_table.h"
#include "runner/trace/payload_layout.h"

namespace mlrun::trace {

class CollectiveTracker {
 public:
  // To be called before the first row; else rows are only added up.
  void write_to(std::string tables_folder) { table_.write_to(std::move(tables_folder)); }

  // A range with its payload; the name has to stand in the row. In the order of their ends.
  void add(const model::MarkRow& range, const std::vector<PayloadValue>& payload);

  // Whether all rows could be written. To be called once.
  Status finish();
  [[nodiscard]] summary::CollectiveMeter& meter() { return meter_; }

 private:
  struct Membership {
    std::optional<int64_t> rank, ranks;
    bool is_several = false;  // ranks in one process
    int64_t collectives = 0;
  };
  Membership* membership(int32_t proc_id, uint64_t communicator);
  void note_rank(const model::MarkRow& range, const std::vector<PayloadValue>& payload);
  void place(model::CollectiveRow& row, uint64_t communicator);

  std::unordered_map<uint64_t, Membership> memberships_;  // by process and communicator
  CollectiveTable table_;
  summary::CollectiveMeter meter_;
  Status written_;
};

}  // namespace mlrun::trace
