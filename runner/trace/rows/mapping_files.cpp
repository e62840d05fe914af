// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/mapping_files.h"

namespace mlrun::trace {

namespace func = events::func;

// A forked process inherits the mappings at its first row, which comes soon after the fork.
void MappingFiles::meet(const model::Origin& origin) {
  int32_t& image = images_[origin.proc_id];
  if (image == origin.image_id) return;
  const bool is_first = image == 0;
  image = origin.image_id;
  const auto index = static_cast<size_t>(origin.proc_id) - 1;
  if (!is_first || index >= info_.processes.size()) return;
  const model::ProcessRow& process = info_.processes[index];
  const auto parent = images_.find(process.parent_proc_id);
  if (process.forked && parent != images_.end()) {
    mapped_.fork(static_cast<uint64_t>(parent->second), static_cast<uint64_t>(origin.image_id));
  }
}

void MappingFiles::see(model::CallRow& row) {
  const auto space = static_cast<uint64_t>(row.origin.image_id);
  const auto begun = static_cast<uint64_t>(row.origin.ts_ns), ended = begun + static_cast<uint64_t>(row.dur_ns);
  const auto bytes = static_cast<uint64_t>(row.requested), address = static_cast<uint64_t>(row.arg2);
  if (row.func == func::k_mmap && row.err == 0) {
    mapped_.map(space, static_cast<uint64_t>(row.ret), bytes, static_cast<uint64_t>(row.file_id), ended);
  }
  if (row.func == func::k_mremap && row.err == 0) {
    mapped_.remap(space, address, static_cast<uint64_t>(row.ret), bytes, ended);
  }
  if (!is_on_memory(row.func) || row.file_id != 0) return;
  row.file_id = static_cast<int64_t>(mapped_.find(space, address));
  row.file_kind = files_.kind(static_cast<uint32_t>(row.file_id));
  if (row.func == func::k_munmap && row.err == 0) mapped_.unmap(space, address, bytes, begun);
}

void MappingFiles::apply(SliceRows& slice_rows) {
  for (const RowRef& ref : slice_rows.order) {
    if (ref.kind != RowKind::kCall) continue;
    model::CallRow& row = slice_rows.calls[ref.index];
    meet(row.origin);
    see(row);
  }
}

}  // namespace mlrun::trace
