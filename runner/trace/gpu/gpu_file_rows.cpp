// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/gpu_file_rows.h"

#include <algorithm>

#include "runner/events/cufile_calls.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

Result<bool> GpuFileRows::add(const mlrun_cufile_call& record) {
  const std::string array = parts_.take(record);
  const int64_t number = ++number_;
  GpuFileTableRow of_table;
  of_table.row = gpu_file_row(record);
  if (of_table.row.func == 0) return false;
  of_table.end_ns = TraceClock::from_monotonic(record.head.time_ns);
  of_table.ts_ns = of_table.end_ns;
  if (record.begin_ns != 0) of_table.ts_ns = std::min(TraceClock::from_monotonic(record.begin_ns), of_table.end_ns);
  of_table.row.origin = from_.threads.find(of_table.ts_ns, record.head.pid, record.head.tid);
  complete(of_table, number);
  const bool hands_in = of_table.row.err == 0 && events::is_batch(record.function);
  const size_t entry_bytes = hands_in ? MLRUN_CUFILE_OPERATION_BYTES : MLRUN_CUFILE_RESULT_BYTES;
  from_.gaps.add_array(record, array.size() / entry_bytes);
  if (hands_in) add_operations(of_table, array);
  Status status = add_operations_until(of_table.end_ns);
  if (status) status = add_to_tables(of_table);
  if (!status) return tl::make_unexpected(status.error());
  return true;
}

// Sets the file of the row, and how much of its bytes libcufile's own reads and writes moved.
void GpuFileRows::complete(GpuFileTableRow& of_table, int64_t number) {
  model::GpuFileRow& row = of_table.row;
  row.dur_ns = of_table.end_ns - of_table.ts_ns;
  row.gpu_file_id = number;
  const GpuFileCalls::File file = from_.calls.file(number);
  row.fd = file.fd;
  row.device = stat_device(file.device);
  row.inode = static_cast<int64_t>(file.inode);
  if (file.inode != 0) row.file_id = from_.inodes.find(file.device, file.inode, file.ns);
  // Reads and writes of a libcufile call are found by its file. If the file has an inode but is not in the table `file`,
  // they cannot be found: the columns are null.
  const bool is_found = from_.calls.knows(number) && (file.inode == 0 || row.file_id != 0);
  row.has_posix = row.ret >= 0 && from_.calls.knows_posix() && is_found;
  if (row.has_posix) row.posix = from_.calls.posix(number);
}

// Adds the operations of the batch that this call submits. No thread waits for them, so they have no thread.
void GpuFileRows::add_operations(const GpuFileTableRow& call, std::string_view array) {
  for (const auto& operation : events::cufile_entries<events::CufileOperation>(array)) {
    const int64_t number = ++number_;
    const BatchEnd end = from_.calls.end(number);
    GpuFileTableRow of_table;
    of_table.row = gpu_file_row(operation, end);
    of_table.ts_ns = call.ts_ns;
    of_table.end_ns = end.status > model::BatchStatus::kUnknown ? std::max(end.end_ns, call.ts_ns) : call.end_ns;
    of_table.row.origin = call.row.origin;
    of_table.row.origin.thread_id = 0;
    of_table.row.batch_id = call.row.gpu_file_id;
    complete(of_table, number);
    open_operations_.emplace(of_table.end_ns, of_table);
  }
}

Status GpuFileRows::add_operations_until(int64_t ns) {
  while (!open_operations_.empty() && open_operations_.begin()->first <= ns) {
    if (Status added = add_to_tables(open_operations_.begin()->second); !added) return added;
    open_operations_.erase(open_operations_.begin());
  }
  return {};
}

Status GpuFileRows::add_to_tables(const GpuFileTableRow& of_table) {
  from_.gaps.add(of_table.row);
  from_.builder.add(of_table.row, from_.posix_is_counted);
  return table_.add(of_table);
}

Status GpuFileRows::close() {
  Status status = add_operations_until(INT64_MAX);
  return status ? table_.close() : status;
}

}  // namespace mlrun::trace
