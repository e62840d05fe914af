// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/outside_reads.h"

#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

// What a program's own libraries take stays below this.
constexpr int64_t kBytesMin = 1 << 20;
constexpr int64_t kPercentMin = 1;

}  // namespace

// A bio of a stacked device (request 0) is read by those of the devices below it.
void OutsideReads::add(const mlrun_block_part& part, bool is_outside) {
  if (part.op != MLRUN_BLOCK_READ || part.request == 0) return;
  util::add_to(all_bytes_, int64_t{part.bytes});
  if (is_outside) util::add_to(outside_bytes_, int64_t{part.bytes});
}

void OutsideReads::add_row(model::TraceInfo& info) const {
  if (outside_bytes_ < kBytesMin || outside_bytes_ / kPercentMin < all_bytes_ / 100) return;
  info.coverage.push_back(
      {0, "bytes read from devices",
       "outside of recorded calls and operations: page faults of mapped files, programs being loaded, asynchronous "
       "I/O, without the library folders and attributes too (listing, stat); their time is in no sum of I/O time",
       all_bytes_ - outside_bytes_, all_bytes_});
}

}  // namespace mlrun::trace
