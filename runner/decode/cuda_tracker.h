// SPDX-License-Identifier: Apache-2.0
// Converts libcuda calls observed from outside (mlrun_cuda_call) to rows of gpu_api, gpu_memory and gpu_sync: which
// memory a call allocated or freed, and in which context. State from before the first record is unknown.
//
// Memory: at most kBlocksMax live allocations, handles and mappings, kContextsMax contexts, kThreadsMax threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/events/cuda_calls.h"
#include "runner/model/gpu_rows.h"

namespace mlrun::decode {

class CudaTracker {
 public:
  using Rows = std::vector<model::GpuWorkRow>;

  static constexpr size_t kBlocksMax = size_t{1} << 20, kContextsMax = 1 << 16, kThreadsMax = 1 << 16;

  // `contexts_until_ns`: switches of contexts were recorded until that time.
  explicit CudaTracker(int64_t contexts_until_ns) : contexts_until_ns_(contexts_until_ns) {}

  // Appends the rows of a call. `origin`: its thread; ts_ns is its start. Requires: calls arrive nearly in order of
  // their end. Returns false if this version does not know the function.
  bool add(const mlrun_cuda_call& call, const model::Origin& origin, Rows& rows);

  // Drops a process's state, because it ended or executed another program.
  void forget(int32_t proc_id, int32_t pid);

  // Number of allocations, handles, mappings, contexts and threads beyond the limits.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  // Number of allocations without a row, because the call's result could not be read.
  [[nodiscard]] uint64_t unread() const { return unread_; }

 private:
  struct Call {
    const mlrun_cuda_call& record;
    const events::CudaCall& what;
    model::GpuWorkRow base;  // the fields that all rows of the call have in common
  };
  struct Block {
    int64_t bytes = 0, end_ns = 0;
    uint64_t context = 0;
    uint8_t memory = 0;
    int32_t device = -1;
    // Bytes of the previous allocation at this address, whose release is not recorded yet.
    int64_t replaced_bytes = -1;
    int32_t replaced_device = -1;
  };
  struct Handle {
    int64_t bytes = 0;
    uint8_t memory = 0;
    int32_t device = -1;
    int64_t references = 1, mappings = 0;
  };
  struct Context {
    uint32_t number = 0;
    int32_t device = -1;        // device number within the process; -1: unknown
    std::set<uint64_t> blocks;  // addresses of the context's allocations
  };
  struct Primary {
    uint64_t context = 0;
    int64_t retained = 0;
  };
  struct Process {
    std::map<uint64_t, Block> blocks;                   // by address
    std::map<uint64_t, Handle> handles;                 // memory that is known only by its handle
    std::map<uint64_t, uint64_t> mapped;                // handles by address
    std::map<uint64_t, Context> contexts;               // by handle
    std::map<uint32_t, std::vector<uint64_t>> current;  // by thread: stack of pushed contexts, the last one is current
    std::map<uint64_t, Primary> primaries;              // by device number within the process
    uint32_t last_context = 0;
    bool is_whole = false;  // the first record is cuInit; otherwise primary contexts may have been retained earlier
  };
  void follow_context(Process& process, const Call& call);
  void allocate(Process& process, const Call& call, Rows& rows);
  void release(Process& process, const Call& call, Rows& rows);
  void follow_handle(Process& process, const Call& call, Rows& rows);
  void create(Process& process, const Call& call, Rows& rows);
  void map(Process& process, const Call& call);
  void unmap(Process& process, const Call& call, Rows& rows);
  void hold(Process& process, uint64_t address, Block block);
  void drop(Process& process, std::map<uint64_t, Block>::iterator block);
  void drop_if_unused(Process& process, uint64_t handle, const Call& call, Rows& rows);
  void release_primary(Process& process, const Call& call, Rows& rows);
  void destroy(Process& process, uint64_t context, const Call& call, Rows& rows);
  [[nodiscard]] uint64_t current_context(const Process& process, const Call& call) const;
  uint32_t number_of(Process& process, uint64_t context);
  void note_device(Process& process, uint64_t context, uint64_t device);
  [[nodiscard]] static int32_t device_of(const Process& process, uint64_t context);
  std::vector<uint64_t>* stack_of(Process& process, uint32_t tid);
  bool takes_one(size_t& count, size_t most);  // returns false if the limit is reached

  int64_t contexts_until_ns_;
  std::map<std::pair<int32_t, int32_t>, Process> processes_;  // by proc_id and pid
  size_t blocks_ = 0, contexts_ = 0, threads_ = 0, unseen_processes_ = 0;
  uint64_t left_out_ = 0, unread_ = 0;
};

}  // namespace mlrun::decode
