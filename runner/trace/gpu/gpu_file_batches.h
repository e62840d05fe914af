// SPDX-License-Identifier: Apache-2.0
// Batches of libcufile: which result is of which operation. A program hands operations in, each with a cookie of its own
// choice, and asks later:
//
//   cuFileBatchIOSubmit ── operations ──▶ open, by process and batch ── cuFileBatchIOGetStatus, same cookie ──▶ over
//                                          └── cuFileBatchIOCancel, and nothing asked for after it ──▶ cancelled
//                                          └── cuFileBatchIODestroy ──▶ destroyed
//
// Of several open ones with one cookie a result is taken to be of the first that asked for as many bytes, else of the first,
// and counted as guessed.
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

// The array of a call, put together from the pieces that stand before its record.
class CufileParts {
 public:
  void add(const mlrun_cufile_part& part);
  // Empty: there were none.
  std::string take(const mlrun_cufile_call& record);

 private:
  struct Array {
    uint64_t time_ns = 0;
    std::string bytes;
  };
  std::unordered_map<uint32_t, Array> arrays_;  // of threads
};

// What became of one that was handed in as number `entry`.
struct BatchEnd {
  uint32_t entry = 0;
  int64_t end_ns = 0;
  model::BatchStatus status = model::BatchStatus::kUnknown;
  int64_t result = 0;  // bytes, or a negative error
};

class GpuFileBatches {
 public:
  // Of a process and a batch's handle.
  using Batch = std::pair<uint32_t, uint64_t>;

  void hand_in(Batch batch, int64_t ns, uint32_t entry, const events::CufileOperation& operation);
  // When the last one was handed in that is still open; INT64_MAX: there is none.
  [[nodiscard]] int64_t since(Batch batch) const;
  void forget(Batch batch) { open_.erase(batch); }

  // Of those that are over by this.
  std::vector<BatchEnd> results(Batch batch, int64_t ns, const std::vector<events::CufileResult>& results);
  void cancel(Batch batch, int64_t ns);
  std::vector<BatchEnd> destroy(Batch batch, int64_t ns);
  // Of those that were cancelled and never asked for.
  std::vector<BatchEnd> finish();

  [[nodiscard]] int64_t guessed() const { return guessed_; }
  // Results of operations that were never seen being handed in.
  [[nodiscard]] int64_t unmatched() const { return unmatched_; }

 private:
  struct Open {
    uint32_t entry = 0;
    uint64_t cookie = 0, bytes = 0;
    int64_t since_ns = 0;
    int64_t cancelled_ns = 0;  // 0: it is not
  };
  using List = std::vector<Open>;
  List::iterator find(List& open, const events::CufileResult& result);
  static void end(const Open& open, std::vector<BatchEnd>& ends, int64_t destroyed_ns);

  std::map<Batch, List> open_;
  int64_t guessed_ = 0, unmatched_ = 0;
};

}  // namespace mlrun::trace
