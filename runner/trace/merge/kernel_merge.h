// SPDX-License-Identifier: Apache-2.0
// The kernel side of a trace. Its spool (kernel.bin) is read two to five times, because its records do not fit into memory:
//   1. load(): what the other readings need complete: the records that calls are joined with, the mappings for stacks.
//   2. If waits were recorded: a KernelFollower in step with the calls, up to 2 s ahead of them.
//   3. If libcuda was probed: CudaMerge, by for_each(). In one reading with 4 its rows and the row groups of all kernel
//      tables would be in memory together.
//   4. write(): the tables. It needs the join of all calls.
//   5. If waits were recorded: a KernelFollower up to 2 s ahead of 4. In one reading, 4 would buffer these 2 s.
// Memory: two row groups of each table, and up to the limits of limits.h (items beyond are only counted):
//   24 bytes  for each bio fragment, file operation, remote request and completion, 40 for each page cache addition
//   88 bytes  for each fork, exec and exit of a thread and each /proc sample of a process in observe mode
//   32 bytes  for each call on a file that shares its inode number with another file of the trace
//   40 bytes  for each operation with names, and their text
//  160 bytes  for each observed name of an open file, and its text, in addition to its row of the table `file`
//
//   KernelMerge kernel(folder, session);
//   if (kernel.present()) { kernel.load(); for each call: kernel.join()->call(row, id); kernel.write(...); }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"
#include "runner/trace/files/files_by_inode.h"
#include "runner/trace/gpu/gpu_file_calls.h"
#include "runner/trace/gpu/library_report.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/kernel/completions.h"
#include "runner/trace/kernel/kernel_end.h"
#include "runner/trace/kernel/kernel_follower.h"
#include "runner/trace/merge/kernel_totals.h"
#include "runner/trace/observed/observed_tasks.h"
#include "runner/trace/observed/operation_names.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

class KernelMerge {
 public:
  // Requires: session outlives it.
  KernelMerge(const std::string& trace_folder, const model::Run& session);

  // Whether the run has a kernel side.
  [[nodiscard]] bool present() const { return file_.valid(); }

  // Whether the kernel side recorded when threads slept.
  [[nodiscard]] bool sees_sleeps() const { return has_waits(); }

  // Valid after write(): number of rows of `wait`, and whether gpu_file has rows (libcufile was probed and called).
  [[nodiscard]] int64_t waits() const { return totals_.waits; }
  [[nodiscard]] bool has_gpu_file_calls() const { return totals_.gpu_file_calls > 0; }

  // Reads the spool for the join. Requires: all files, processes and threads that the interposer recorded are in `info`.
  // Adds files, processes and threads that only the kernel side recorded. Passes each record to `also`, too.
  Status load(model::TraceInfo& info, const std::function<void(const decode::KernelReader&)>& also = {});
  // The records that calls are joined with; nullptr without a kernel side.
  [[nodiscard]] CallJoin* join() { return present() ? &join_ : nullptr; }

  // Sets the time split of the slice's calls, if waits were recorded. Requires: slices in order of time.
  void split(SliceRows& slice_rows) {
    if (follower_) follower_->split(slice_rows);
  }

  // Whether the kernel side recorded page cache additions, so that misses of reads are known. add_misses() passes the
  // misses of a call to the builder.
  [[nodiscard]] bool sees_page_cache() const;
  void add_misses(const model::CallRow& row, summary::Builder& builder) const;

  // Sets gpu_file_id of calls made by libcufile. Requires: slices in order of time.
  void find_gpu_files(SliceRows& slice_rows);

  // Visits all records in spool order.
  Status for_each(const std::function<Status(const decode::KernelReader&)>& take);

  // Writes the tables block, block_part, wait, vfs, remote, gpu_file, torch_memory, sample_memory, syscall and device.
  // Requires: all calls were joined, `info` has processes, threads and files. builder: receives the calls of libcufile,
  // PyTorch's memory, and file operations inside no call. events_from_ns: --last freed the calls before it; 0: none.
  Status write(const model::TraceInfo& info, const std::string& tables_folder, summary::Builder& builder,
               int64_t events_from_ns);

  // After write(): adds rows of loss and coverage.
  void add_gaps(model::TraceInfo& info) const;
  void describe(nlohmann::json& run) const;

 private:
  template <typename Visit>
  Status for_each_record(const Visit& visit);
  void follow(const model::FileTable& files);
  [[nodiscard]] std::vector<FileSeen> names_seen() const;
  void add_joins_left_out(model::TraceInfo& info) const;
  void add_gpu_file_gaps(model::TraceInfo& info) const;
  void add_torch_gaps(model::TraceInfo& info) const;
  [[nodiscard]] bool has_waits() const;
  // Whether page faults of mapped files have no rows, so that only their reads from devices are known.
  [[nodiscard]] bool lacks_faults() const;
  [[nodiscard]] bool has_calls() const { return session_.has_stream("files") && !session_.observed; }
  [[nodiscard]] bool has_signal(const char* name) const;
  [[nodiscard]] GpuFileCalls::Below below_gpu_files() const;

  const model::Run& session_;
  KernelEnd end_;
  util::UniqueFd file_;
  uint64_t bytes_ = 0, damaged_bytes_ = 0;
  CallJoin join_;
  Completions completions_;
  std::optional<KernelFollower> follower_;
  ObservedTasks observed_;
  OperationNames names_;
  LibraryReport libcufile_, torch_;
  GpuFileCalls gpu_files_;
  int64_t page_adds_ = 0;
  KernelTotals totals_;
};

}  // namespace mlrun::trace
