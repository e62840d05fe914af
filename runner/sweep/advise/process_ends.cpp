// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/process_ends.h"

#include <algorithm>

#include "runner/parquet/table_batches.h"

namespace mlrun::sweep {

using tables::Numbers;
using tables::Texts;

Result<ProcessEnds> ProcessEnds::read(const std::string& trace) {
  ProcessEnds ends;
  Status read = tables::for_each_batch_if_any(trace, "image", {.columns = {"proc_id", "first"}},
                                              [&](const arrow::RecordBatch& batch) {
                                                const Numbers process(batch, "proc_id"), first(batch, "first");
                                                for (int64_t row = 0; row < batch.num_rows(); row++)
                                                  ends.moments_[process[row]].push_back(first[row]);
                                              });
  if (!read) return tl::make_unexpected(read.error());
  for (auto& [process, moments] : ends.moments_) {
    std::sort(moments.begin(), moments.end());
    moments.erase(moments.begin());  // the start of the process
  }
  read = tables::for_each_batch_if_any(trace, "process", {.columns = {"proc_id", "last", "ended"}},
                                       [&](const arrow::RecordBatch& batch) {
                                         const Numbers process(batch, "proc_id"), last(batch, "last");
                                         const Texts ended(batch, "ended");
                                         for (int64_t row = 0; row < batch.num_rows(); row++) {
                                           ends.latest_ns_ = std::max(ends.latest_ns_, last[row]);
                                           if (!ended[row].empty() && ended[row] != "running")
                                             ends.moments_[process[row]].push_back(last[row]);
                                         }
                                       });
  if (!read) return tl::make_unexpected(read.error());
  return ends;
}

int64_t ProcessEnds::of_block(int64_t process, int64_t from_ns, int64_t at_ns) const {
  const auto found = moments_.find(process);
  if (found == moments_.end()) return at_ns;
  const auto next = std::upper_bound(found->second.begin(), found->second.end(), from_ns);
  if (next != found->second.end()) return std::min(at_ns, *next);
  return at_ns;
}

}  // namespace mlrun::sweep
