// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu_file_table.h"

#include <algorithm>
#include <string>

#include "runner/events/cufile_calls.h"
#include "runner/trace/limits.h"

namespace mlrun::trace {

namespace {

using events::CufileRole;

std::vector<std::string> func_names() {
  std::vector<std::string> names = {"other"};
  for (const events::CufileCall& call : events::kCufileCalls) {
    names.resize(std::max<size_t>(names.size(), call.number + size_t{1}), "other");
    names[call.number] = call.name;
  }
  return names;
}

// -1: no number that a length or a place in a file can have.
int64_t length_of(uint64_t bytes) {
  return bytes > static_cast<uint64_t>(kOffsetMax) ? -1 : static_cast<int64_t>(bytes);
}

// Functions that give bytes give -1 with errno, or cuFile's error with its sign turned.
int32_t error_of(int64_t result) {
  const int64_t error = result < 0 ? -std::max<int64_t>(result, -INT32_MAX) : result;
  return static_cast<int32_t>(std::min<int64_t>(error, INT32_MAX));
}

}  // namespace

GpuFileTable::GpuFileTable()
    : table_("gpu_file"),
      span_(table_),
      owner_(table_),
      gpu_file_id_(table_.int64("gpu_file_id", Encoding::kDelta)),
      func_(table_.label("func", func_names())),
      fd_(table_.optional_int32("fd")),
      dev_(table_.optional_int64("dev")),
      ino_(table_.optional_int64("ino")),
      file_id_(table_.optional_int64("file_id")),
      offset_(table_.optional_int64("offset", Encoding::kSplit)),
      requested_(table_.optional_int64("requested")),
      ret_(table_.optional_int64("ret")),
      err_(table_.int32("err")),
      operations_(table_.int64("operations")),
      address_(table_.optional_int64("address", Encoding::kSplit)),
      buffer_offset_(table_.optional_int64("buffer_offset", Encoding::kSplit)),
      posix_calls_(table_.optional_int64("posix_calls")),
      posix_bytes_(table_.optional_int64("posix_bytes")) {}

void GpuFileTable::add(const Row& of_table, const GroupEnds& ends) {
  const model::GpuFileRow& row = of_table.row;
  span_.add(of_table.ts_ns, of_table.end_ns, ends);
  owner_.add(row.origin);
  gpu_file_id_.add(row.gpu_file_id);
  func_.add(row.func <= events::kCufileCalls.size() ? row.func : 0);
  fd_.add_unless(-1, row.fd);
  row.inode == 0 ? dev_.add_null() : dev_.add(row.device);
  ino_.add_unless(0, row.inode);
  file_id_.add_unless(0, row.file_id);
  offset_.add_unless(-1, row.offset);
  requested_.add_unless(-1, row.requested);
  row.ret < 0 && row.err == 0 ? ret_.add_null() : ret_.add(row.ret);
  err_.add(row.err);
  operations_.add(row.operations);
  address_.add_unless(0, static_cast<int64_t>(row.address));
  buffer_offset_.add_unless(-1, row.buffer_offset);
  row.has_posix ? posix_calls_.add(row.posix.calls) : posix_calls_.add_null();
  row.has_posix ? posix_bytes_.add(row.posix.bytes) : posix_bytes_.add_null();
  table_.row_added();
}

model::GpuFileRow gpu_file_row(const mlrun_cufile_call& record) {
  model::GpuFileRow row;
  const events::CufileCall* what = events::cufile_call_of(record.function);
  if (what == nullptr) return row;
  row.func = what->number;
  if (what->role != CufileRole::kDeregister && record.result != 0) row.err = error_of(record.result);
  const auto* arguments = static_cast<const __u64*>(record.arguments);
  const bool has_range = (record.unread & MLRUN_CUFILE_READS_RANGE) == 0;
  switch (what->role) {
    case CufileRole::kRegister:
    case CufileRole::kDeregister: row.operations = 0; break;
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
    row.ret = std::clamp<int64_t>(record.result, -1, kOffsetMax);
    if (record.result >= 0) row.err = 0;
  }
  return row;
}

void GpuFileGaps::add(const model::GpuFileRow& row) {
  const events::CufileCall* what = events::cufile_call_of(row.func);
  if (what == nullptr || row.err != 0) return;
  if (what->role == CufileRole::kBatch) in_batches_ += row.operations;
  if (what->role == CufileRole::kLater) ++later_;
  if (what->role != CufileRole::kBatch && what->role != CufileRole::kDeregister && row.inode == 0) ++nameless_;
}

void GpuFileGaps::add_rows(model::TraceInfo& info) const {
  const auto add = [&](const char* subject, const char* detail, int64_t count) {
    if (count > 0) info.coverage.push_back({0, subject, detail, -1, count});
  };
  add("files of cuFile",
      "calls whose handle was made before the probes of its library were there, or for no descriptor", nameless_);
  add("asynchronous calls of cuFile", "handed in by cuFileReadAsync and cuFileWriteAsync: what they moved is not known",
      later_);
  add("batches of cuFile",
      "reads and writes handed in by cuFileBatchIOSubmit: of which files, and what they moved, is not known",
      in_batches_);
}

}  // namespace mlrun::trace
