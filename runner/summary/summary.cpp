// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/summary.h"

#include <algorithm>

#include "runner/util/saturating.h"

namespace mlrun::summary {

void FileTree::add(const FileTree& other) {
  util::add_to(folders, other.folders);
  util::add_to(files, other.files);
  util::add_to(missing, other.missing);
  totals.add(other.totals);
  util::add_to(end_checks, other.end_checks);
  util::add_to(sequential_bytes, other.sequential_bytes);
  util::add_to(random_bytes, other.random_bytes);
  util::add_to(followed_bytes, other.followed_bytes);
  util::add_to(distinct_bytes, other.distinct_bytes);
}

void Totals::add(const Totals& other) {
  util::add_to(calls, other.calls);
  util::add_to(errors, other.errors);
  util::add_to(read_calls, other.read_calls);
  util::add_to(write_calls, other.write_calls);
  util::add_to(metadata_calls, other.metadata_calls);
  util::add_to(bytes_read, other.bytes_read);
  util::add_to(bytes_written, other.bytes_written);
  util::add_to(time_ns, other.time_ns);
}

Totals Summary::totals(Group group) const {
  Totals sum;
  for (const ProcessSummary& process : processes) sum.add(process.totals[size_t(group)]);
  return sum;
}

bool Summary::complete() const {
  return std::all_of(coverage.begin(), coverage.end(), [](const auto& row) { return row.is_remark(); }) &&
         std::none_of(losses.begin(), losses.end(), is_loss);
}

}  // namespace mlrun::summary
