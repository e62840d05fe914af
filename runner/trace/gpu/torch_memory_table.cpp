// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/torch_memory_table.h"

#include <algorithm>
#include <array>

#include "runner/parquet/row_columns.h"

namespace mlrun::trace {

namespace {

using tables::kSplit;

constexpr int64_t kDevicesMax = INT32_MAX;

constexpr std::array kTorchOperations = {"allocation", "release"};

}  // namespace

struct TorchMemoryColumns {
  static constexpr const char* kTable = "torch_memory";
  static void visit(auto& visitor, const TorchMemoryTableRow& of_table, const GroupEnds& ends) {
    const model::TorchMemoryRow& row = of_table.row;
    visit_span(visitor, of_table, ends);
    visit_owner(visitor, row.origin);
    visitor.label("operation", row.is_release, kTorchOperations);
    visitor("address", row.address, kSplit);
    visitor.optional("bytes", row.bytes, -1);
    visitor.optional("device", row.device, -1);
    visitor.optional("stream", tables::value_if(!row.is_release && of_table.has_stream, row.stream));
    visitor.optional("held_bytes", row.held_bytes, -1, kSplit);
  }
};

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

template class mlrun::tables::RowTable<mlrun::trace::TorchMemoryColumns, mlrun::trace::TorchMemoryTableRow,
                                       mlrun::trace::GroupEnds>;
