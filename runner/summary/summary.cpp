// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/summary.h"

namespace mlrun::summary {

void Totals::add(const Totals& other) {
  calls += other.calls;
  errors += other.errors;
  read_calls += other.read_calls;
  write_calls += other.write_calls;
  metadata_calls += other.metadata_calls;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  time_ns += other.time_ns;
}

Totals Summary::totals(Group group) const {
  Totals sum;
  for (const ProcessSummary& process : processes) sum.add(process.totals[size_t(group)]);
  return sum;
}

}  // namespace mlrun::summary
