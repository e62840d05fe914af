// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_table.h"

#include <algorithm>
#include <string>

#include "runner/decode/limits.h"
#include "runner/events/cufile_calls.h"
#include "runner/parquet/row_columns.h"
#include "runner/trace/kernel/kernel_losses.h"

namespace mlrun::trace {

namespace {

using events::CufileRole;
using tables::kDelta;
using tables::kSplit;

std::vector<std::string> func_names() {
  std::vector<std::string> names = {"other"};
  for (const events::CufileCall& call : events::kCufileCalls) {
    names.resize(std::max<size_t>(names.size(), call.number + size_t{1}), "other");
    names[call.number] = call.name;
  }
  return names;
}

// A length or offset of a libcufile call; -1: the value is not valid.
int64_t length_of(uint64_t bytes) {
  return bytes > static_cast<uint64_t>(decode::kOffsetMax) ? -1 : static_cast<int64_t>(bytes);
}

// Functions that return bytes return -1 with errno, or cuFile's error negated.
int32_t error_of(int64_t result) {
  const int64_t error = result < 0 ? -std::max<int64_t>(result, -INT32_MAX) : result;
  return static_cast<int32_t>(std::min<int64_t>(error, INT32_MAX));
}

// Word for the outcome of a batch operation; empty: not of a batch, or unknown.
const char* status_name(model::BatchStatus status) {
  switch (status) {
    case model::BatchStatus::kComplete: return "complete";
    case model::BatchStatus::kFailed: return "failed";
    case model::BatchStatus::kInvalid: return "invalid";
    case model::BatchStatus::kTimeout: return "timeout";
    case model::BatchStatus::kCancelled: return "cancelled";
    case model::BatchStatus::kDestroyed: return "destroyed";
    case model::BatchStatus::kNone:
    case model::BatchStatus::kUnknown: break;
  }
  return "";
}

bool moves_file(CufileRole role) {
  switch (role) {
    case CufileRole::kRegister:
    case CufileRole::kTransfer:
    case CufileRole::kVector:
    case CufileRole::kLater:
    case CufileRole::kOperation: return true;
    case CufileRole::kDeregister:
    case CufileRole::kBatch:
    case CufileRole::kResults:
    case CufileRole::kCancel:
    case CufileRole::kDestroy: break;
  }
  return false;
}

}  // namespace

struct GpuFileColumns {
  static constexpr const char* kTable = "gpu_file";
  static void visit(auto& visitor, const GpuFileTableRow& of_table, const GroupEnds& ends) {
    static const std::vector<std::string> kFuncs = func_names();
    const model::GpuFileRow& row = of_table.row;
    visit_span(visitor, of_table, ends);
    visit_owner(visitor, row.origin);
    visitor("gpu_file_id", row.gpu_file_id, kDelta);
    visitor.label("func", row.func <= events::kCufileCalls.size() ? row.func : 0, kFuncs);
    visitor.optional("fd", row.fd, -1);
    visitor.optional("dev", tables::value_if(row.inode != 0, row.device));
    visitor.optional("ino", row.inode, 0);
    visitor.optional("file_id", row.file_id, 0);
    visitor.optional("offset", row.offset, -1, kSplit);
    visitor.optional("requested", row.requested, -1);
    visitor.optional("ret", tables::value_if(row.ret >= 0 || row.err != 0, row.ret));
    visitor("err", row.err);
    visitor("operations", row.operations);
    visitor.optional("address", row.address, 0, kSplit);
    visitor.optional("buffer_offset", row.buffer_offset, -1, kSplit);
    visitor.optional("posix_calls", tables::value_if(row.has_posix, row.posix.calls));
    visitor.optional("posix_bytes", tables::value_if(row.has_posix, row.posix.bytes));
    visitor.optional("batch_id", row.batch_id, 0, kDelta);
    visitor.optional("status", status_name(row.status));
  }
};

model::GpuFileRow gpu_file_row(const mlrun_cufile_call& record) {
  model::GpuFileRow row;
  const events::CufileCall* what = events::cufile_call_of(record.function);
  if (what == nullptr) return row;
  row.func = what->number;
  if (!events::returns_nothing(what->role) && record.result != 0) row.err = error_of(record.result);
  const auto* arguments = static_cast<const __u64*>(record.arguments);
  const bool has_range = (record.unread & MLRUN_CUFILE_READS_RANGE) == 0;
  switch (what->role) {
    case CufileRole::kRegister:
    case CufileRole::kDeregister:
    case CufileRole::kResults:
    case CufileRole::kCancel:
    case CufileRole::kDestroy:
    case CufileRole::kOperation: row.operations = 0; break;
    case CufileRole::kTransfer:
      row.address = arguments[1];
      row.requested = length_of(arguments[2]);
      row.offset = length_of(arguments[3]);
      row.buffer_offset = length_of(arguments[4]);
      break;
    case CufileRole::kVector: row.offset = length_of(arguments[3]); break;
    case CufileRole::kLater:
      row.address = arguments[1];
      if (has_range) row.requested = length_of(record.read[0]);
      if (has_range) row.offset = length_of(record.read[1]);
      break;
    case CufileRole::kBatch: row.operations = static_cast<uint32_t>(arguments[1]); break;
  }
  if (what->role == CufileRole::kTransfer || what->role == CufileRole::kVector) {
    row.ret = std::clamp<int64_t>(record.result, -1, decode::kOffsetMax);
    if (record.result >= 0) row.err = 0;
  }
  return row;
}

model::GpuFileRow gpu_file_row(const events::CufileOperation& operation, const BatchEnd& end) {
  model::GpuFileRow row;
  row.func = events::cufile_operation_number(operation.opcode);
  row.operations = 0;  // the row of the submitting call counts them
  row.address = operation.buffer;
  row.requested = length_of(operation.bytes);
  row.offset = length_of(static_cast<uint64_t>(operation.file_offset));
  row.buffer_offset = length_of(static_cast<uint64_t>(operation.buffer_offset));
  row.status = end.status;
  switch (end.status) {
    case model::BatchStatus::kComplete:
      row.ret = std::clamp<int64_t>(end.result, -1, decode::kOffsetMax);
      if (end.result < 0) row.err = error_of(end.result);
      break;
    case model::BatchStatus::kFailed:
    case model::BatchStatus::kInvalid:
    case model::BatchStatus::kTimeout: row.err = end.result < 0 ? error_of(end.result) : 1; break;
    case model::BatchStatus::kNone:
    case model::BatchStatus::kUnknown:
    case model::BatchStatus::kCancelled:
    case model::BatchStatus::kDestroyed: break;
  }
  return row;
}

void GpuFileGaps::add(const model::GpuFileRow& row) {
  const events::CufileCall* what = events::cufile_call_of(row.func);
  if (what == nullptr || row.err != 0) return;
  if (row.status == model::BatchStatus::kUnknown) ++not_asked_;
  if (what->role == CufileRole::kLater) ++later_;
  if (moves_file(what->role) && row.inode == 0) ++nameless_;
}

void GpuFileGaps::add_array(const mlrun_cufile_call& record, size_t entries) {
  const events::CufileCall* what = events::cufile_call_of(record.function);
  if (what == nullptr || record.result != 0) return;
  constexpr int64_t kMost = int64_t{MLRUN_CUFILE_PARTS} * MLRUN_CUFILE_PART_BYTES;
  const auto add = [&](Missing& missing, uint64_t all, int64_t entry_bytes) {
    const auto count = static_cast<int64_t>(all & UINT32_MAX);
    const int64_t read = std::min(count, kMost / entry_bytes);
    missing.beyond += count - read;
    missing.unread += std::max<int64_t>(read - static_cast<int64_t>(entries), 0);
  };
  if (what->role == CufileRole::kBatch) add(operations_, record.arguments[1], MLRUN_CUFILE_OPERATION_BYTES);
  if (what->role == CufileRole::kResults) add(results_, record.read[0], MLRUN_CUFILE_RESULT_BYTES);
}

void GpuFileGaps::add_missing(model::TraceInfo& info, const Missing& missing, const char* unit) {
  add_kernel_loss(info, "more in one call than the probe reads", static_cast<uint64_t>(missing.beyond), unit);
  add_kernel_loss(info, "the memory of the process could not be read, or the ring was full",
                  static_cast<uint64_t>(missing.unread), unit);
}

void GpuFileGaps::add_rows(model::TraceInfo& info, const GpuFileBatches& batches) const {
  const auto add = [&](const char* subject, const char* detail, int64_t count) {
    if (count > 0) info.coverage.push_back({0, subject, detail, -1, count});
  };
  add("files of cuFile",
      "calls whose handle was registered before the probes of libcufile were attached, or without a descriptor",
      nameless_);
  add("asynchronous calls of cuFile",
      "submitted by cuFileReadAsync and cuFileWriteAsync: the bytes they moved are unknown", later_);
  add("results of cuFile's batches",
      "operations whose result the program did not request (cuFileBatchIOGetStatus): the bytes they moved are unknown",
      not_asked_);
  add("results of cuFile's batches",
      "several operations had the cookie of the result: the one that it belongs to is guessed by size and order",
      batches.guessed());
  add("results of cuFile's batches", "of operations whose submission was not recorded", batches.unmatched());
  add_missing(info, operations_, "operations of libcufile's batches");
  add_missing(info, results_, "results of libcufile's batches");
}

}  // namespace mlrun::trace

template class mlrun::tables::RowTable<mlrun::trace::GpuFileColumns, mlrun::trace::GpuFileTableRow,
                                       mlrun::trace::GroupEnds>;
