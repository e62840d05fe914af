// SPDX-License-Identifier: Apache-2.0
// Matches the results of libcufile's batches to operations. A program submits operations, each with a cookie of its
// choice, and asks for results later:
//
//   cuFileBatchIOSubmit ── operations ──▶ open, by process and batch ── cuFileBatchIOGetStatus, same cookie ──▶ over
//                                          └── cuFileBatchIOCancel, and no result after it ──▶ cancelled
//                                          └── cuFileBatchIODestroy ──▶ destroyed
//
// If several open operations have the result's cookie, it is assigned to the first one with the same number of bytes,
// else to the first one, and counted in guessed().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/events/cufile_batch.h"
#include "runner/model/gpu_file.h"

namespace mlrun::trace {

// Assembles the array of operations or results of a call from the fragments that precede the call's record.
class CufileParts {
 public:
  void add(const mlrun_cufile_part& part);
  // Bytes of the call's array; empty: none was recorded.
  std::string take(const mlrun_cufile_call& record);

 private:
  struct Array {
    uint64_t time_ns = 0;
    std::string bytes;
  };
  std::unordered_map<uint32_t, Array> arrays_;  // by thread
};

// The outcome of the operation submitted as number `entry`.
struct BatchEnd {
  uint32_t entry = 0;
  int64_t end_ns = 0;
  model::BatchStatus status = model::BatchStatus::kUnknown;
  int64_t result = 0;  // bytes, or a negative error
};

class GpuFileBatches {
 public:
  // Process and batch handle.
  using Batch = std::pair<uint32_t, uint64_t>;

  void hand_in(Batch batch, int64_t ns, uint32_t entry, const events::CufileOperation& operation);
  // Submission time of the newest open operation; INT64_MAX: none is open.
  [[nodiscard]] int64_t since(Batch batch) const;
  void forget(Batch batch) { open_.erase(batch); }

  // Returns the operations that these results complete.
  std::vector<BatchEnd> results(Batch batch, int64_t ns, const std::vector<events::CufileResult>& results);
  void cancel(Batch batch, int64_t ns);
  std::vector<BatchEnd> destroy(Batch batch, int64_t ns);
  // Ends the matching. Returns the operations that were cancelled and got no result.
  std::vector<BatchEnd> finish();

  [[nodiscard]] int64_t guessed() const { return guessed_; }
  // Number of results of operations whose submission was not recorded.
  [[nodiscard]] int64_t unmatched() const { return unmatched_; }

 private:
  struct Open {
    uint32_t entry = 0;
    uint64_t cookie = 0, bytes = 0;
    int64_t since_ns = 0;
    int64_t cancelled_ns = 0;  // 0: not cancelled
  };
  using List = std::vector<Open>;
  List::iterator find(List& open, const events::CufileResult& result);
  static void end(const Open& open, std::vector<BatchEnd>& ends, int64_t destroyed_ns);

  std::map<Batch, List> open_;
  int64_t guessed_ = 0, unmatched_ = 0;
};

}  // namespace mlrun::trace
