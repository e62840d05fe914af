// SPDX-License-Identifier: Apache-2.0
// Records the host buffer of each copy to and from a GPU, and on which NUMA nodes its pages are: CUPTI's record of a
// copy has no address. As in allocation_callers.c, these functions precede libcudart's. A subscription to CUPTI's
// callbacks would have the address, too, but would leave torch.profiler without GPU events.
//
//   program, libtorch ──▶ cudaMemcpyAsync here ──▶ libcudart's
//                           └─ then records start, end, addresses, nodes of pages (MLRUN_GPU_HOST)
//
// The copying thread queries the nodes directly after the call: the program may free the buffer as soon as our function
// returns, and only this process has these pages at the address. Not before the call: the target of a copy may have no
// pages then. move_pages with nodes = NULL only queries: it moves no page and brings none into memory.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/runtime_function.h"
#include "cupti/session.h"
#include "preload/base/compiler.h"
#include "preload/base/raw_syscall.h"
#include "runner/events/host_pages.h"

enum { kUnits = 5, kPermission = 1, kNoSuchCall = 38, kErrorsMax = 255 };
enum copy_kind { kToDevice = 1, kFromDevice = 2, kByAddress = 4 };  // cudaMemcpyKind

struct copy {
  const void *target, *source;
  size_t bytes;  // length of the host buffer, from its first byte to its last
  int kind;
};

struct nodes {
  uint32_t asked, error;  // asked: number of pages; error: errno, of move_pages or of the first page without a node
  uint32_t phase;
  bool of_target;
  uint8_t node[MLRUN_HOST_PAGES_MAX + 1];
};

static uint32_t refusal;  // errno if the kernel or a sandbox refuses move_pages: it is not called again

// The time before the call; 0: the copy is not recorded. Does not check the session, which may start inside the call.
static uint64_t begin_copy(int kind) {
  bool has_host_side = kind == kToDevice || kind == kFromDevice || kind == kByAddress;
  const struct mlrun_producer *producer = has_host_side ? session_producer() : NULL;
  return producer && producer->streams() & MLRUN_STREAM_GPU ? producer->monotonic_ns() : 0;
}

// Queries the nodes of some pages of the buffer. True: at least one page has a node.
static bool ask_for_nodes(const void *address, size_t bytes, struct nodes *nodes) {
  const struct mlrun_host_range range = {(uintptr_t)address, bytes, nodes->phase};
  void *pages[MLRUN_HOST_PAGES_MAX];
  int found[MLRUN_HOST_PAGES_MAX];
  bool any = false;
  nodes->error = __atomic_load_n(&refusal, __ATOMIC_RELAXED);
  nodes->asked = 0;
  if (nodes->error || range.address + bytes < bytes || !session.producer->may_call_kernel()) return false;
  uint32_t asked = mlrun_host_pages_asked(&range);
  for (uint32_t i = 0; i < asked; i++) pages[i] = (void *)(uintptr_t)mlrun_host_page(&range, i, asked);
  long answer = raw_syscall(SYS_move_pages, 0, asked, (long)pages, 0, (long)found, 0);
  if (answer < 0) {
    nodes->error = -answer <= kErrorsMax ? (uint32_t)-answer : kErrorsMax;
    if (answer == -kNoSuchCall || answer == -kPermission) __atomic_store_n(&refusal, nodes->error, __ATOMIC_RELAXED);
    return false;
  }
  nodes->asked = asked;
  for (uint32_t i = 0; i < asked; i++) {
    bool is_known = found[i] >= 0 && found[i] < MLRUN_HOST_NODES_MAX;
    nodes->node[i] = is_known ? (uint8_t)found[i] : MLRUN_HOST_NO_NODE;
    any |= is_known;
    if (found[i] < 0 && !nodes->error && -found[i] <= kErrorsMax) nodes->error = (uint32_t)-found[i];
  }
  return any;
}

// Queries the host buffer. cudaMemcpyDefault does not say which of the two buffers that is: the one whose pages have
// nodes, since addresses of a device have no pages.
static void find_nodes(const struct copy *copy, struct nodes *nodes) {
  nodes->of_target = copy->kind != kToDevice;
  if (ask_for_nodes(nodes->of_target ? copy->target : copy->source, copy->bytes, nodes) || copy->kind != kByAddress)
    return;
  nodes->of_target = false;
  ask_for_nodes(copy->source, copy->bytes, nodes);
}

static uint64_t packed(const uint8_t *bytes, int count) {
  uint64_t word = 0;
  for (int i = count; i-- > 0;) word = word << 8 | bytes[i];
  return word;
}

static void end_copy(uint64_t start_ns, const struct copy *copy, int answer) {
  if (!start_ns || answer || !copy->bytes || __atomic_load_n(&session.state, __ATOMIC_ACQUIRE) != kRunning) return;
  const struct mlrun_producer *to = session.producer;
  uint64_t end_ns = to->monotonic_ns();
  struct nodes nodes = {.phase = (uint32_t)(start_ns >> 4 & 0xff)};
  find_nodes(copy, &nodes);
  uint64_t now = to->clock();
  uint8_t lap;
  __u64 *w = now ? to->reserve(kUnits * MLRUN_UNIT_BYTES, &lap) : NULL;
  if (!w) return;
  w[1] = now;
  w[2] = start_ns << 8;
  w[3] = end_ns;
  w[4] = (uint64_t)(nodes.asked | nodes.phase << 8 | nodes.error << 16 | (uint32_t)nodes.of_target << 24) << 32;
  w[5] = (uintptr_t)copy->source;
  w[6] = copy->bytes << 8;
  w[7] = (uintptr_t)copy->target;
  w[8] = packed(nodes.node, 7) << 8;
  w[9] = packed(nodes.node + 7, 8);
  compiler_barrier();
  *(volatile __u64 *)w = mlrun_word0(lap, kUnits, MLRUN_GPU_HOST, 0);
}

// Length of a rectangle in memory, from its first byte to its last.
static size_t extent(size_t pitch, size_t width, size_t height) {
  return width && height ? pitch * (height - 1) + width : 0;
}

#define COPY(name, major, arguments)                                       \
  RUNTIME_REAL(name, major);                                               \
  const uint64_t start_ns = begin_copy(kind);                              \
  int answer = real.call arguments;                                        \
  end_copy(start_ns, &(struct copy){target, source, bytes, kind}, answer); \
  return answer;
#define COPY_ROWS(name, major, arguments)                                                \
  size_t bytes = extent(kind == kToDevice ? source_pitch : target_pitch, width, height); \
  COPY(name, major, arguments)
#define COPIES(name, parameters, arguments)         LINKED_ENTRIES("libcudart", name, parameters, arguments, COPY)
#define COPIES_OF_ROWS(name, parameters, arguments) LINKED_ENTRIES("libcudart", name, parameters, arguments, COPY_ROWS)

COPIES(cudaMemcpy, (void *target, const void *source, size_t bytes, int kind), (target, source, bytes, kind));
COPIES(cudaMemcpy_ptds, (void *target, const void *source, size_t bytes, int kind), (target, source, bytes, kind));
COPIES(cudaMemcpyAsync, (void *target, const void *source, size_t bytes, int kind, void *stream),
       (target, source, bytes, kind, stream));
COPIES(cudaMemcpyAsync_ptsz, (void *target, const void *source, size_t bytes, int kind, void *stream),
       (target, source, bytes, kind, stream));
COPIES_OF_ROWS(cudaMemcpy2D,
               (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height,
                int kind),
               (target, target_pitch, source, source_pitch, width, height, kind));
COPIES_OF_ROWS(cudaMemcpy2D_ptds,
               (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height,
                int kind),
               (target, target_pitch, source, source_pitch, width, height, kind));
COPIES_OF_ROWS(cudaMemcpy2DAsync,
               (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height,
                int kind, void *stream),
               (target, target_pitch, source, source_pitch, width, height, kind, stream));
COPIES_OF_ROWS(cudaMemcpy2DAsync_ptsz,
               (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height,
                int kind, void *stream),
               (target, target_pitch, source, source_pitch, width, height, kind, stream));
