// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/mapping_callers.h"

#include <sys/mman.h>

#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {
constexpr size_t kCallersMax = 1 << 16;
}  // namespace

void MappingCallers::add(const model::CallRow& row) {
  const bool is_memory = (row.flags & MAP_ANONYMOUS) != 0 && (row.flags & MAP_TYPE) == MAP_PRIVATE;
  if (row.err != 0 || !is_memory || row.offset2 <= 0) return;
  const Bytes::key_type key{row.origin.proc_id, static_cast<uint64_t>(row.offset2)};
  if (bytes_.size() >= kCallersMax && !bytes_.contains(key)) return;
  util::add_to(bytes_[key], row.requested);
}

}  // namespace mlrun::trace
