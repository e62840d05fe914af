// SPDX-License-Identifier: Apache-2.0
// Calls of libcufile: the file of each handle, and which recorded reads and writes are libcufile's own. Without the
// nvidia-fs driver libcufile copies through host memory (compatibility mode) by reads and writes in the calling thread
// or in its own threads, which are recorded like any other:
//
//   calling thread  ──[ cuFileRead(handle, 0..8M) ─────────────]──
//                        └ pread 0..1M                              in the same thread, of the same file
//   another thread            └ pread 1M..8M                        of the same file and range while the call lasts
//
// A batch operation lasts from the submitting call to the call that returns its result, and belongs to no thread: reads
// and writes of its range in any thread are matched to it.
//
// All libcufile calls are added first, in spool order; then reads and writes are matched. A byte that was moved by both
// a libcufile call and its reads or writes is counted once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/model/file_table.h"
#include "runner/model/gpu_file.h"
#include "runner/trace/gpu/gpu_file_batches.h"

namespace mlrun::trace {

class GpuFileCalls {
 public:
  // The kind of rows that has libcufile's own reads and writes: none, `call` or `vfs`.
  enum class Below : uint8_t { kNothing, kCalls, kOperations };

  // The file that a handle was registered for.
  struct File {
    int32_t fd = -1;
    uint32_t device = 0;
    uint64_t inode = 0;  // 0: unknown
    int64_t ns = 0;      // registration time
  };

  explicit GpuFileCalls(Below below) : below_(below) {}

  // The process executed another program at `ns`, which invalidates its handles. Requires: no later call was added yet.
  void add_exec(int32_t pid, int64_t ns);
  // Beyond a few million calls, further ones are dropped, and their reads and writes get no gpu_file_id. `array`: the
  // call's input or output array (CufileParts). Operations that the call submits get the numbers after the call's.
  void add(const mlrun_cufile_call& record, std::string_view array = {});
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Requires: all calls were added, and `files` is complete.
  void finish(const model::FileTable& files);

  // Number of the libcufile call that made this read or write, counted from 1 in the order of add(); 0: none. Not
  // thread-safe.
  int64_t call(const model::CallRow& row);
  int64_t operation(const mlrun_file_op& record);

  // File of a call by number. Requires: the reads and writes inside the call were passed to call().
  [[nodiscard]] File file(int64_t number) const;
  [[nodiscard]] model::PosixPart posix(int64_t number) const;
  // Outcome of a batch operation.
  [[nodiscard]] BatchEnd end(int64_t number) const;
  [[nodiscard]] bool knows(int64_t number) const { return static_cast<size_t>(number) <= entries_.size(); }
  [[nodiscard]] bool knows_posix() const { return below_ != Below::kNothing; }

  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  [[nodiscard]] const GpuFileBatches& batches() const { return batches_; }

 private:
  struct Entry {
    int64_t begin_ns = 0, end_ns = 0;
    int64_t offset = -1, length = 0;  // the range of the file that the call may transfer
    int64_t moved = 0;
    model::PosixPart posix;
    int32_t pid = 0, tid = 0;
    uint32_t file = 0;  // index in files_
    bool is_transfer = false, is_write = false;
    model::BatchStatus status = model::BatchStatus::kNone;  // of a batch operation
    int64_t result = 0;                                     // of a batch operation
  };
  // A recorded read or write of any process, by libcufile or by the program itself.
  struct Transfer {
    int64_t ts_ns = 0, dur_ns = 0;
    int32_t pid = 0, tid = 0;
    bool is_write = false, is_call = false;  // is_call: a row of `call`, else a kernel operation
    uint32_t device = 0;                     // device number of stat(), low 32 bits
    uint64_t inode = 0;
    int64_t offset = -1, bytes = 0;
    [[nodiscard]] int64_t middle_ns() const { return ts_ns + dur_ns / 2; }
  };
  struct Identity {
    uint32_t device;
    uint64_t inode;
  };
  // Calls of a process in order of their start; ends_ns[i] is the latest end of the calls up to i.
  struct ByBegin {
    std::vector<uint32_t> entries;
    std::vector<int64_t> ends_ns;
  };
  static Entry entry_of(const mlrun_cufile_call& record);
  uint32_t file_of(const mlrun_cufile_call& record);
  uint32_t file_of_new_handle(const mlrun_cufile_call& record);
  uint32_t file_of_handle(const mlrun_cufile_call& record, uint64_t handle, bool is_gone);
  void add_of_batch(const mlrun_cufile_call& record, std::string_view array);
  void add_operation(const mlrun_cufile_call& record, const events::CufileOperation& operation);
  void end_operations(const std::vector<BatchEnd>& ends);
  void find_devices(const model::FileTable& files);
  [[nodiscard]] bool has_exec(int32_t pid, int64_t after_ns, int64_t before_ns) const;
  int64_t place(const Transfer& transfer, bool counts);
  Entry* in_same_thread(const Transfer& transfer);
  Entry* in_other_thread(const Transfer& transfer);
  [[nodiscard]] bool is_on_file(const Entry& entry, const Transfer& transfer) const;
  static int64_t common_bytes(const Entry& entry, const Transfer& transfer);
  [[nodiscard]] size_t first_after(const std::vector<uint32_t>& entries, int64_t ns) const;

  Below below_;
  std::vector<Entry> entries_;
  std::vector<File> files_ = {File{}};
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> handles_;  // by process; index in files_
  std::set<std::pair<int32_t, int64_t>> execs_;                // by pid and time
  std::unordered_map<int32_t, std::vector<uint32_t>> by_thread_;
  std::unordered_map<int32_t, ByBegin> by_process_;
  std::vector<Identity> identities_;  // of the rows of `file`, by file_id - 1
  std::vector<uint32_t> devices_;     // device numbers of stat(), by index in files_
  GpuFileBatches batches_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
