// SPDX-License-Identifier: Apache-2.0
// Compares cupti/cupti_abi.h with NVIDIA's headers at compile time, once with those of CUPTI 12 and once with those of
// CUPTI 13: every field that is read and every number. All versions of a record that begin like ours are compared, also
// those that no accepted CUPTI (kCuptiOldest) writes any more: their agreement shows that records have only grown at
// the end so far. Records from before CUDA 7 have another layout and are left out (Kernel, Kernel2, Device). A version
// that lacks fields is compared by the macro for the remaining ones; CUPTI stopped writing these before 12.0, so the
// reader ignores them, except Overhead, whose data the reader takes by the record's length.
#include "cupti/cupti_abi.h"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_version.h>

#define SAME(theirs, field, ours, own)                                                                \
  _Static_assert(offsetof(CUpti_Activity##theirs, field) == offsetof(struct ours, own) &&             \
                     sizeof(((CUpti_Activity##theirs *)0)->field) == sizeof(((struct ours *)0)->own), \
                 #theirs "." #field)
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

#define API(v)                                    \
  SAME(v, cbid, cupti_api, function);             \
  SAME(v, start, cupti_api, start);               \
  SAME(v, end, cupti_api, end);                   \
  SAME(v, processId, cupti_api, pid);             \
  SAME(v, threadId, cupti_api, tid);              \
  SAME(v, correlationId, cupti_api, correlation); \
  SAME(v, returnValue, cupti_api, result)
API(API);

#define KERNEL_WITHOUT_GRAPH(v)                                  \
  SAME(v, registersPerThread, cupti_kernel, registers);          \
  SAME(v, start, cupti_kernel, start);                           \
  SAME(v, end, cupti_kernel, end);                               \
  SAME(v, deviceId, cupti_kernel, device);                       \
  SAME(v, contextId, cupti_kernel, context);                     \
  SAME(v, streamId, cupti_kernel, stream);                       \
  SAME(v, gridX, cupti_kernel, grid[0]);                         \
  SAME(v, gridY, cupti_kernel, grid[1]);                         \
  SAME(v, gridZ, cupti_kernel, grid[2]);                         \
  SAME(v, blockX, cupti_kernel, block[0]);                       \
  SAME(v, blockY, cupti_kernel, block[1]);                       \
  SAME(v, blockZ, cupti_kernel, block[2]);                       \
  SAME(v, staticSharedMemory, cupti_kernel, static_shared);      \
  SAME(v, dynamicSharedMemory, cupti_kernel, dynamic_shared);    \
  SAME(v, localMemoryPerThread, cupti_kernel, local_per_thread); \
  SAME(v, correlationId, cupti_kernel, correlation);             \
  SAME(v, name, cupti_kernel, name)
#define KERNEL(v)                                 \
  KERNEL_WITHOUT_GRAPH(v);                        \
  SAME(v, graphNodeId, cupti_kernel, graph_node); \
  SAME(v, graphId, cupti_kernel, graph)
KERNEL_WITHOUT_GRAPH(Kernel3);
KERNEL_WITHOUT_GRAPH(Kernel4);
KERNEL(Kernel5);
KERNEL(Kernel6);
KERNEL(Kernel7);
KERNEL(Kernel8);
KERNEL(Kernel9);

#define MEMCPY_WITHOUT_GRAPH(v)                \
  SAME(v, copyKind, cupti_memcpy, copy_kind);  \
  SAME(v, srcKind, cupti_memcpy, source_kind); \
  SAME(v, dstKind, cupti_memcpy, target_kind); \
  SAME(v, flags, cupti_memcpy, flags);         \
  SAME(v, bytes, cupti_memcpy, bytes);         \
  SAME(v, start, cupti_memcpy, start);         \
  SAME(v, end, cupti_memcpy, end);             \
  SAME(v, deviceId, cupti_memcpy, device);     \
  SAME(v, contextId, cupti_memcpy, context);   \
  SAME(v, streamId, cupti_memcpy, stream);     \
  SAME(v, correlationId, cupti_memcpy, correlation)
#define MEMCPY_WITHOUT_GRAPH_ID(v) \
  MEMCPY_WITHOUT_GRAPH(v);         \
  SAME(v, graphNodeId, cupti_memcpy, graph_node)
#define MEMCPY(v)             \
  MEMCPY_WITHOUT_GRAPH_ID(v); \
  SAME(v, graphId, cupti_memcpy, graph)
MEMCPY_WITHOUT_GRAPH(Memcpy);
MEMCPY_WITHOUT_GRAPH_ID(Memcpy3);
MEMCPY(Memcpy4);
MEMCPY(Memcpy5);

#define PEER_WITHOUT_GRAPH(v)                             \
  SAME(v, bytes, cupti_memcpy_peer, bytes);               \
  SAME(v, start, cupti_memcpy_peer, start);               \
  SAME(v, end, cupti_memcpy_peer, end);                   \
  SAME(v, deviceId, cupti_memcpy_peer, device);           \
  SAME(v, contextId, cupti_memcpy_peer, context);         \
  SAME(v, streamId, cupti_memcpy_peer, stream);           \
  SAME(v, srcDeviceId, cupti_memcpy_peer, source_device); \
  SAME(v, dstDeviceId, cupti_memcpy_peer, target_device); \
  SAME(v, correlationId, cupti_memcpy_peer, correlation)
#define PEER_WITHOUT_GRAPH_ID(v) \
  PEER_WITHOUT_GRAPH(v);         \
  SAME(v, graphNodeId, cupti_memcpy_peer, graph_node)
#define PEER(v)             \
  PEER_WITHOUT_GRAPH_ID(v); \
  SAME(v, graphId, cupti_memcpy_peer, graph)
PEER_WITHOUT_GRAPH(MemcpyPtoP);
PEER_WITHOUT_GRAPH_ID(MemcpyPtoP2);
PEER(MemcpyPtoP3);
PEER(MemcpyPtoP4);

#define MEMSET_WITHOUT_GRAPH(v)                      \
  SAME(v, value, cupti_memset, value);               \
  SAME(v, bytes, cupti_memset, bytes);               \
  SAME(v, start, cupti_memset, start);               \
  SAME(v, end, cupti_memset, end);                   \
  SAME(v, deviceId, cupti_memset, device);           \
  SAME(v, contextId, cupti_memset, context);         \
  SAME(v, streamId, cupti_memset, stream);           \
  SAME(v, correlationId, cupti_memset, correlation); \
  SAME(v, flags, cupti_memset, flags);               \
  SAME(v, memoryKind, cupti_memset, memory_kind)
#define MEMSET_WITHOUT_GRAPH_ID(v) \
  MEMSET_WITHOUT_GRAPH(v);         \
  SAME(v, graphNodeId, cupti_memset, graph_node)
#define MEMSET(v)             \
  MEMSET_WITHOUT_GRAPH_ID(v); \
  SAME(v, graphId, cupti_memset, graph)
MEMSET_WITHOUT_GRAPH(Memset);
MEMSET_WITHOUT_GRAPH_ID(Memset2);
MEMSET(Memset3);
MEMSET(Memset4);

#define SYNC(v)                                    \
  SAME(v, type, cupti_sync, type);                 \
  SAME(v, start, cupti_sync, start);               \
  SAME(v, end, cupti_sync, end);                   \
  SAME(v, correlationId, cupti_sync, correlation); \
  SAME(v, contextId, cupti_sync, context);         \
  SAME(v, streamId, cupti_sync, stream);           \
  SAME(v, cudaEventId, cupti_sync, event)
SYNC(Synchronization);
SYNC(Synchronization2);

#define MEMORY_WITHOUT_POOL_USE(v)                                   \
  SAME(v, memoryOperationType, cupti_memory, operation);             \
  SAME(v, memoryKind, cupti_memory, memory_kind);                    \
  SAME(v, correlationId, cupti_memory, correlation);                 \
  SAME(v, address, cupti_memory, address);                           \
  SAME(v, bytes, cupti_memory, bytes);                               \
  SAME(v, timestamp, cupti_memory, timestamp);                       \
  SAME(v, PC, cupti_memory, program_counter);                        \
  SAME(v, deviceId, cupti_memory, device);                           \
  SAME(v, contextId, cupti_memory, context);                         \
  SAME(v, streamId, cupti_memory, stream);                           \
  SAME(v, isAsync, cupti_memory, is_async);                          \
  SAME(v, memoryPoolConfig.memoryPoolType, cupti_memory, pool_kind); \
  SAME(v, memoryPoolConfig.address, cupti_memory, pool_address);     \
  SAME(v, memoryPoolConfig.pool.size, cupti_memory, pool_bytes)
#define MEMORY(v)             \
  MEMORY_WITHOUT_POOL_USE(v); \
  SAME(v, memoryPoolConfig.utilizedSize, cupti_memory, pool_used)
MEMORY_WITHOUT_POOL_USE(Memory2);
MEMORY(Memory3);
MEMORY(Memory4);

#define GRAPH(v)                                    \
  SAME(v, correlationId, cupti_graph, correlation); \
  SAME(v, start, cupti_graph, start);               \
  SAME(v, end, cupti_graph, end);                   \
  SAME(v, deviceId, cupti_graph, device);           \
  SAME(v, graphId, cupti_graph, graph);             \
  SAME(v, contextId, cupti_graph, context);         \
  SAME(v, streamId, cupti_graph, stream)
GRAPH(GraphTrace);
GRAPH(GraphTrace2);

#define OVERHEAD(v)                                     \
  SAME(v, overheadKind, cupti_overhead, overhead_kind); \
  SAME(v, start, cupti_overhead, start);                \
  SAME(v, end, cupti_overhead, end)
OVERHEAD(Overhead);  // of CUPTI 12.0 and 12.1
OVERHEAD(Overhead2);
OVERHEAD(Overhead3);
SAME(Overhead3, overheadData, cupti_overhead_with_data, data);
_Static_assert((int)CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL == (int)CUPTI_OVERHEAD_COMMAND_BUFFER_FULL,
               "the kind that has data");
_Static_assert(sizeof(CUpti_ActivityOverhead3) == sizeof(struct cupti_overhead_with_data),
               "its length tells that it has data");
_Static_assert(sizeof(CUpti_ActivityOverhead) == sizeof(struct cupti_overhead), "the oldest one is no shorter");
_Static_assert(sizeof(CUpti_ActivityOverhead2) < sizeof(struct cupti_overhead_with_data), "and one without is shorter");

#define DEVICE_WITHOUT_MIG(v)                                      \
  SAME(v, globalMemorySize, cupti_device, memory_bytes);           \
  SAME(v, numMultiprocessors, cupti_device, multiprocessors);      \
  SAME(v, computeCapabilityMajor, cupti_device, capability_major); \
  SAME(v, computeCapabilityMinor, cupti_device, capability_minor); \
  SAME(v, id, cupti_device, number);                               \
  SAME(v, uuid, cupti_device, uuid);                               \
  SAME(v, name, cupti_device, name)
#define DEVICE(v)                              \
  DEVICE_WITHOUT_MIG(v);                       \
  SAME(v, isMigEnabled, cupti_device, is_mig); \
  SAME(v, migUuid, cupti_device, mig_uuid)
DEVICE_WITHOUT_MIG(Device2);
DEVICE_WITHOUT_MIG(Device3);
DEVICE(Device4);
DEVICE(Device5);

#if CUPTI_API_VERSION >= 130000
KERNEL(Kernel10);
#endif
#if CUPTI_API_VERSION >= 130500
KERNEL(Kernel11);
KERNEL(Kernel12);
KERNEL(Kernel13);
MEMCPY(Memcpy7);
MEMSET(Memset5);
DEVICE(Device6);
#endif
#if CUPTI_API_VERSION >= 26
MEMCPY(Memcpy6);
#endif

NUMBER(CUPTI_OK, CUPTI_SUCCESS);
NUMBER(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
NUMBER(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
NUMBER(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
NUMBER(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
NUMBER(CUPTI_VIRTUAL_GPU, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_VIRTUAL_GPU_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
NUMBER(CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
NUMBER(CUPTI_MINING_PROCESSOR, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_SLI, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
NUMBER(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
NUMBER(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
NUMBER(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
NUMBER(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
NUMBER(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
NUMBER(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
NUMBER(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
NUMBER(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
NUMBER(CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
NUMBER(CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
NUMBER(CUPTI_POOL_LOCAL, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
NUMBER(1, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);  // the merger's
NUMBER(2, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
NUMBER(3, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
NUMBER(7, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
// The merger takes both for none.
_Static_assert(CUPTI_INVALID_STREAM_ID == 0 || CUPTI_INVALID_STREAM_ID == UINT32_MAX, "no stream");
_Static_assert(CUPTI_INVALID_CONTEXT_ID == 0 || CUPTI_INVALID_CONTEXT_ID == UINT32_MAX, "no context");
NUMBER(CUPTI_ATTR_DEVICE_BUFFER_SIZE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
NUMBER(CUPTI_ATTR_DEVICE_BUFFER_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
NUMBER(CUPTI_ATTR_DEVICE_BUFFERS_BEFORE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
NUMBER(CUPTI_ATTR_PER_THREAD_BUFFER, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
