// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/torch_memory_table.h"

#include <algorithm>
#include <string>
#include <vector>

namespace mlrun::trace {

namespace {

constexpr int64_t kDevicesMax = INT32_MAX;

std::vector<std::string> operation_names() { return {"allocation", "release"}; }

}  // namespace

TorchMemoryTable::TorchMemoryTable()
    : table_("torch_memory"),
      span_(table_),
      owner_(table_),
      operation_(table_.label("operation", operation_names())),
      address_(table_.int64("address", Encoding::kSplit)),
      bytes_(table_.optional_int64("bytes")),
      device_(table_.optional_int32("device")),
      stream_(table_.optional_int64("stream")),
      held_bytes_(table_.optional_int64("held_bytes", Encoding::kSplit)) {}

void TorchMemoryTable::add(const Row& of_table, const GroupEnds& ends) {
  const model::TorchMemoryRow& row = of_table.row;
  span_.add(of_table.ts_ns, of_table.end_ns, ends);
  owner_.add(row.origin);
  operation_.add(row.is_release ? 1 : 0);
  address_.add(static_cast<int64_t>(row.address));
  bytes_.add_unless(-1, row.bytes);
  device_.add_unless(-1, row.device);
  row.is_release ? stream_.add_null() : stream_.add(row.stream);
  held_bytes_.add_unless(-1, row.held_bytes);
  table_.row_added();
}

std::optional<model::TorchMemoryRow> torch_memory_row(const mlrun_torch_memory& record) {
  const auto* arguments = static_cast<const __u64*>(record.arguments);
  model::TorchMemoryRow row;
  row.address = arguments[MLRUN_TORCH_ADDRESS];
  switch (static_cast<mlrun_torch_probe>(record.probe)) {
    case MLRUN_TORCH_MALLOC: {
      const auto device = static_cast<int64_t>(arguments[MLRUN_TORCH_DEVICE]);
      if (device < 0 || device > kDevicesMax) return std::nullopt;
      row.device = static_cast<int32_t>(device);
      row.bytes = static_cast<int64_t>(std::min<uint64_t>(arguments[MLRUN_TORCH_BYTES], INT64_MAX));
      row.stream = static_cast<int64_t>(arguments[MLRUN_TORCH_STREAM]);
      return row;
    }
    case MLRUN_TORCH_FREE: row.is_release = true; return row;
  }
  return std::nullopt;
}

}  // namespace mlrun::trace
