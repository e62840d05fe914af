// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/cuda_tracker.h"

#include <algorithm>

namespace mlrun::decode {

namespace {

using events::CudaRole;
using model::GpuKind;
using model::GpuWorkRow;

constexpr uint32_t kAllocation = 1, kRelease = 2;  // model::GpuMemoryOperation
constexpr size_t kPushesMax = 64;                  // pushed contexts per thread; primary contexts per process

int64_t cut(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

uint32_t detail_of(uint32_t operation, uint8_t memory, bool is_async) {
  return operation | uint32_t{memory} << 8 | uint32_t{is_async} << 24;
}

// Decodes the location of cuMemCreate: CU_MEM_LOCATION_TYPE_DEVICE and the device number.
int32_t device_of_location(const mlrun_cuda_call& record) {
  const bool is_device = static_cast<uint32_t>(record.read[1]) == 1;
  return (record.unread & MLRUN_CUDA_READS_LOCATION) == 0 && is_device ? static_cast<int32_t>(record.read[1] >> 32)
                                                                       : -1;
}

// The device on which a function creates a context: one of its arguments, at a place that depends on the function.
uint64_t made_on(const events::CudaCall& what, const mlrun_cuda_call& record) {
  if (what.name == "cuCtxCreate_v2") return record.arguments[2];
  return record.arguments[what.name == "cuCtxCreate_v3" ? 4 : 3];
}

// Whether an allocation belongs to the current context. Host memory has no device. A stream-ordered allocation is on its stream's device, which is
// the current context's only for the default streams; a pool may be on any device.
bool is_in_context(const events::CudaCall& what, const mlrun_cuda_call& record) {
  if (what.detail == events::kCudaPinned || what.detail == events::kCudaManaged) return false;
  if (!what.is_async) return true;
  constexpr uint64_t kDefaultStreams = 2;  // 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  return what.name.starts_with("cuMemAllocAsync") && record.arguments[2] <= kDefaultStreams;
}

// cuMemCreate locations CU_MEM_LOCATION_TYPE_HOST, _HOST_NUMA and _HOST_NUMA_CURRENT.
bool is_on_host(const mlrun_cuda_call& record) {
  const auto type = static_cast<uint32_t>(record.read[1]);
  return (record.unread & MLRUN_CUDA_READS_LOCATION) == 0 && type >= 2 && type <= 4;
}

}  // namespace

bool CudaTracker::takes_one(size_t& count, size_t most) {
  if (count >= most) {
    ++left_out_;
    return false;
  }
  ++count;
  return true;
}

bool CudaTracker::add(const mlrun_cuda_call& record, const model::Origin& origin, Rows& rows) {
  const events::CudaCall* what = events::cuda_call_of(record.function);
  if (what == nullptr) return false;
  Call call{record, *what, {}};
  GpuWorkRow& base = call.base;
  base.origin = origin;
  base.dur_ns = cut(record.head.time_ns) - origin.ts_ns;
  base.is_of_uprobe = true;
  base.func = what->name;
  base.result = static_cast<uint32_t>(record.result);
  rows.push_back(base);  // api
  if (record.result != 0) return true;
  const std::pair key{origin.proc_id, origin.pid};
  if (!processes_.contains(key)) {
    if (!takes_one(unseen_processes_, kThreadsMax)) return true;
    processes_[key].is_whole = what->name == "cuInit";
  }
  Process& process = processes_[key];
  switch (what->role) {
    case CudaRole::kAllocate:
    case CudaRole::kAllocatePitched: allocate(process, call, rows); break;
    case CudaRole::kFree: release(process, call, rows); break;
    case CudaRole::kCreate:
    case CudaRole::kRetain:
    case CudaRole::kRelease:
    case CudaRole::kMap:
    case CudaRole::kUnmap: follow_handle(process, call, rows); break;
    case CudaRole::kMakeContext:
    case CudaRole::kSetContext:
    case CudaRole::kPushContext:
    case CudaRole::kPopContext:
    case CudaRole::kRetainPrimary: follow_context(process, call); break;
    case CudaRole::kDestroyContext: destroy(process, record.arguments[0], call, rows); break;
    case CudaRole::kReleasePrimary:
    case CudaRole::kResetPrimary: release_primary(process, call, rows); break;
    case CudaRole::kSync:
      rows.push_back(base);
      rows.back().kind = GpuKind::kSync;
      rows.back().detail = what->detail;
      rows.back().context = number_of(process, current_context(process, call));
      rows.back().stream = UINT32_MAX;
      break;
    case CudaRole::kOther: break;
  }
  return true;
}

void CudaTracker::forget(int32_t proc_id, int32_t pid) {
  const auto found = processes_.find({proc_id, pid});
  if (found == processes_.end()) return;
  const Process& process = found->second;
  blocks_ -= process.blocks.size() + process.handles.size() + process.mapped.size();
  contexts_ -= process.contexts.size();
  threads_ -= process.current.size();
  --unseen_processes_;
  processes_.erase(found);
}

uint64_t CudaTracker::current_context(const Process& process, const Call& call) const {
  if (call.base.origin.ts_ns > contexts_until_ns_) return 0;
  const auto thread = process.current.find(call.record.head.tid);
  return thread == process.current.end() || thread->second.empty() ? 0 : thread->second.back();
}

uint32_t CudaTracker::number_of(Process& process, uint64_t context) {
  if (context == 0) return 0;
  const auto known = process.contexts.find(context);
  if (known != process.contexts.end()) return known->second.number;
  if (!takes_one(contexts_, kContextsMax)) return 0;
  return process.contexts[context].number = ++process.last_context;
}

void CudaTracker::note_device(Process& process, uint64_t context, uint64_t device) {
  const auto known = process.contexts.find(context);
  if (known != process.contexts.end()) known->second.device = static_cast<int32_t>(device);
}

int32_t CudaTracker::device_of(const Process& process, uint64_t context) {
  const auto known = process.contexts.find(context);
  return known == process.contexts.end() ? -1 : known->second.device;
}

std::vector<uint64_t>* CudaTracker::stack_of(Process& process, uint32_t tid) {
  const auto known = process.current.find(tid);
  if (known != process.current.end()) return &known->second;
  return takes_one(threads_, kThreadsMax) ? &process.current[tid] : nullptr;
}

void CudaTracker::follow_context(Process& process, const Call& call) {
  const uint64_t given = (call.record.unread & MLRUN_CUDA_READS_FIRST) == 0 ? call.record.read[0] : 0;
  if (call.what.role == CudaRole::kRetainPrimary) {
    const auto device = static_cast<uint32_t>(call.record.arguments[1]);
    if (process.primaries.size() >= kPushesMax && !process.primaries.contains(device)) return;
    Primary& primary = process.primaries[device];
    primary.context = given;
    ++primary.retained;
    number_of(process, given);
    note_device(process, given, call.record.arguments[1]);
    return;
  }
  std::vector<uint64_t>* stack = stack_of(process, call.record.head.tid);
  if (stack == nullptr) return;
  const bool pops = call.what.role == CudaRole::kPopContext || call.what.role == CudaRole::kSetContext;
  if (pops && !stack->empty()) stack->pop_back();
  if (call.what.role == CudaRole::kPopContext) return;
  const uint64_t context = call.what.role == CudaRole::kMakeContext ? given : call.record.arguments[0];
  if (context == 0 && call.what.role == CudaRole::kSetContext) return;
  if (stack->size() >= kPushesMax) stack->erase(stack->begin());
  stack->push_back(context);
  number_of(process, context);
  if (call.what.role == CudaRole::kMakeContext) note_device(process, context, made_on(call.what, call.record));
}

void CudaTracker::allocate(Process& process, const Call& call, Rows& rows) {
  const bool is_pitched = call.what.role == CudaRole::kAllocatePitched;
  const auto* arguments = static_cast<const __u64*>(call.record.arguments);
  const uint64_t address = call.record.read[0];
  if ((call.record.unread & MLRUN_CUDA_READS_FIRST) != 0) {
    ++unread_;
    return;
  }
  if (address == 0) return;
  const bool has_pitch = (call.record.unread & MLRUN_CUDA_READS_SECOND) == 0;
  const uint64_t row_bytes = has_pitch ? call.record.read[1] : arguments[2];
  GpuWorkRow& row = rows.emplace_back(call.base);
  const uint64_t context = current_context(process, call);
  row.kind = GpuKind::kMemory;
  row.detail = detail_of(kAllocation, call.what.detail, call.what.is_async);
  row.address = address;
  row.bytes = cut(is_pitched ? product(row_bytes, arguments[3]) : arguments[1]);
  row.context = number_of(process, context);
  if (is_in_context(call.what, call.record)) row.device = device_of(process, context);
  Block block{row.bytes, row.origin.ts_ns + row.dur_ns, call.what.is_async ? 0 : context, call.what.detail, row.device};
  hold(process, address, block);
}

void CudaTracker::hold(Process& process, uint64_t address, Block block) {
  const auto known = process.blocks.find(address);
  if (known != process.blocks.end()) {
    block.replaced_bytes = known->second.bytes;
    block.replaced_device = known->second.device;
    drop(process, known);
  }
  if (!takes_one(blocks_, kBlocksMax)) return;
  process.blocks[address] = block;
  const auto context = process.contexts.find(block.context);
  if (context != process.contexts.end()) context->second.blocks.insert(address);
}

void CudaTracker::drop(Process& process, std::map<uint64_t, Block>::iterator block) {
  const auto context = process.contexts.find(block->second.context);
  if (context != process.contexts.end()) context->second.blocks.erase(block->first);
  process.blocks.erase(block);
  --blocks_;
}

// Another thread can get the address before the releasing call returns, so that the record of its allocation may come first.
void CudaTracker::release(Process& process, const Call& call, Rows& rows) {
  const uint64_t address = call.record.arguments[0];
  if (address == 0) return;
  GpuWorkRow& row = rows.emplace_back(call.base);
  row.kind = GpuKind::kMemory;
  row.address = address;
  uint8_t memory = call.what.detail;
  const auto known = process.blocks.find(address);
  if (known != process.blocks.end()) {
    Block& block = known->second;
    const bool is_of_replaced = block.replaced_bytes >= 0 && row.origin.ts_ns < block.end_ns;
    row.bytes = is_of_replaced ? block.replaced_bytes : block.bytes;
    row.context = number_of(process, block.context);
    memory = block.memory;
    row.device = is_of_replaced ? block.replaced_device : block.device;
    if (is_of_replaced) block.replaced_bytes = -1;
    if (!is_of_replaced) drop(process, known);
  }
  row.detail = detail_of(kRelease, memory, call.what.is_async);
}

// Memory that has only a handle exists until its handle is released and all its mappings are removed.
void CudaTracker::follow_handle(Process& process, const Call& call, Rows& rows) {
  const auto* arguments = static_cast<const __u64*>(call.record.arguments);
  const bool is_retained = call.what.role == CudaRole::kRetain;
  const uint64_t handle = is_retained ? call.record.read[0] : arguments[0];
  if (call.what.role == CudaRole::kCreate) return create(process, call, rows);
  if (call.what.role == CudaRole::kMap) return map(process, call);
  if (call.what.role == CudaRole::kUnmap) return unmap(process, call, rows);
  const auto known = process.handles.find(handle);
  if (known == process.handles.end()) return;
  known->second.references += is_retained ? 1 : -1;
  drop_if_unused(process, handle, call, rows);
}

void CudaTracker::create(Process& process, const Call& call, Rows& rows) {
  if ((call.record.unread & MLRUN_CUDA_READS_FIRST) != 0) {
    ++unread_;
    return;
  }
  const uint8_t memory = is_on_host(call.record) ? uint8_t{events::kCudaPinned} : call.what.detail;
  GpuWorkRow& row = rows.emplace_back(call.base);
  row.kind = GpuKind::kMemory;
  row.detail = detail_of(kAllocation, memory, false);
  row.address = call.record.read[0];
  row.bytes = cut(call.record.arguments[1]);
  row.is_handle = true;
  row.device = device_of_location(call.record);
  if (process.handles.contains(row.address) || takes_one(blocks_, kBlocksMax)) {
    process.handles[row.address] = Handle{row.bytes, memory, row.device};
  }
}

void CudaTracker::map(Process& process, const Call& call) {
  const uint64_t address = call.record.arguments[0], handle = call.record.arguments[3];
  const auto known = process.handles.find(handle);
  if (known == process.handles.end() || process.mapped.contains(address) || !takes_one(blocks_, kBlocksMax)) return;
  ++known->second.mappings;
  process.mapped[address] = handle;
}

// One call may remove several adjacent mappings.
void CudaTracker::unmap(Process& process, const Call& call, Rows& rows) {
  const uint64_t begin = call.record.arguments[0], bytes = call.record.arguments[1];
  auto mapped = process.mapped.lower_bound(begin);
  while (mapped != process.mapped.end() && mapped->first - begin < bytes) {
    const uint64_t handle = mapped->second;
    mapped = process.mapped.erase(mapped);
    --blocks_;
    const auto known = process.handles.find(handle);
    if (known != process.handles.end()) --known->second.mappings;
    drop_if_unused(process, handle, call, rows);
  }
}

void CudaTracker::drop_if_unused(Process& process, uint64_t handle, const Call& call, Rows& rows) {
  const auto known = process.handles.find(handle);
  if (known == process.handles.end() || known->second.references > 0 || known->second.mappings > 0) return;
  GpuWorkRow& row = rows.emplace_back(call.base);
  row.kind = GpuKind::kMemory;
  row.detail = detail_of(kRelease, known->second.memory, false);
  row.address = handle;
  row.bytes = known->second.bytes;
  row.device = known->second.device;
  row.is_handle = true;
  process.handles.erase(known);
  --blocks_;
}

// If the context was retained before recording began, this release may not be its last.
void CudaTracker::release_primary(Process& process, const Call& call, Rows& rows) {
  const auto known = process.primaries.find(static_cast<uint32_t>(call.record.arguments[0]));
  if (known == process.primaries.end()) return;
  Primary& primary = known->second;
  const bool is_reset = call.what.role == CudaRole::kResetPrimary;
  if (!is_reset) --primary.retained;
  if (!is_reset && (primary.retained > 0 || !process.is_whole)) return;
  destroy(process, primary.context, call, rows);
}

void CudaTracker::destroy(Process& process, uint64_t context, const Call& call, Rows& rows) {
  const auto known = process.contexts.find(context);
  if (known == process.contexts.end()) return;
  const std::set<uint64_t> addresses = std::move(known->second.blocks);
  const uint32_t number = known->second.number;
  process.contexts.erase(known);  // the handle value may be reused
  --contexts_;
  for (const uint64_t address : addresses) {
    const auto block = process.blocks.find(address);
    if (block == process.blocks.end()) continue;
    GpuWorkRow& row = rows.emplace_back(call.base);
    row.kind = GpuKind::kMemory;
    row.detail = detail_of(kRelease, block->second.memory, false);
    row.address = address;
    row.bytes = block->second.bytes;
    row.context = number;
    row.device = block->second.device;
    row.is_with_context = true;
    drop(process, block);
  }
  const auto thread = process.current.find(call.record.head.tid);
  if (thread != process.current.end()) std::erase(thread->second, context);
}

}  // namespace mlrun::decode
