// SPDX-License-Identifier: Apache-2.0
// Starts the recording: CUDA's driver calls InitializeInjection inside cuInit, when the program's own libcupti is
// already loaded and no context exists yet. We use only CUPTI's activity interface. We hold no subscription, because it
// would leave torch.profiler without GPU events.
#include "cupti/session.h"

#include "cupti/buffers.h"
#include "cupti/find_cupti.h"
#include "cupti/flusher.h"
#include "cupti/gpu_record.h"
#include "cupti/graph_fold.h"
#include "cupti/kinds.h"
#include "cupti/other_client_state.h"
#include "preload/base/compiler.h"
#include "preload/base/raw_syscall.h"

struct session session;

extern const struct mlrun_producer *mlrun_producer(void) __attribute__((weak));

// CUPTI's device buffers: at most 256 MiB of GPU memory for each context, a third of CUPTI's default maximum.
static const size_t kDeviceBufferBytes = 8 << 20, kDeviceBuffersMax = 32;

bool session_is_ours(void) {
  return __atomic_load_n(&session.state, __ATOMIC_ACQUIRE) == kRunning && session.producer->may_call_kernel() &&
         (int)raw_syscall0(SYS_getpid) == session.owner;
}

const struct mlrun_producer *session_producer(void) {
  const struct mlrun_producer *producer = mlrun_producer ? mlrun_producer() : NULL;
  return producer && producer->version == MLRUN_PRODUCER_VERSION ? producer : NULL;
}

EXPORT void mlrun_producer_user(void) {}

static uint64_t monotonic(void) { return session.producer->monotonic_ns(); }

static void no_callback(void *data, uint32_t domain, uint32_t function, const void *details) {
  (void)data;
  (void)domain;
  (void)function;
  (void)details;
}

static bool refused(int answer, const char *what) {
  put_note_text(MLRUN_GPU_OFF, (uint64_t)(unsigned)answer, what);
  return false;
}

// Whether CUPTI works in this process and has no other subscriber. Tests it by a subscription, which it gives back at
// once.
static bool probe(void) {
  void *subscriber = NULL;
  int answer = session.cupti.subscribe(&subscriber, no_callback, NULL);
  if (answer != CUPTI_OK) return refused(answer, "cuptiSubscribe");
  session.cupti.unsubscribe(subscriber);
  return true;
}

static void set_attribute(uint32_t attribute, void *value, size_t bytes) {
  session.cupti.set_attribute(attribute, &bytes, value);
}

void want_thread_buffers(void) {
  uint8_t yes = kOurThreadBuffers;
  if (session.version >= kCuptiThreadBuffers) set_attribute(CUPTI_ATTR_PER_THREAD_BUFFER, &yes, sizeof yes);
}

static void configure(void) {
  size_t device_bytes = kDeviceBufferBytes, device_buffers = kDeviceBuffersMax;
  session.cupti.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
  set_attribute(CUPTI_ATTR_DEVICE_BUFFER_SIZE, &device_bytes, sizeof device_bytes);
  set_attribute(CUPTI_ATTR_DEVICE_BUFFER_LIMIT, &device_buffers, sizeof device_buffers);
  want_thread_buffers();
}

static bool start_cupti(void) {
  struct found_cupti found = {0};
  if (!find_cupti(&session.cupti, &found)) return refused(0, found.tried);
  if (session.cupti.get_version(&session.version) != CUPTI_OK) return refused(0, "cuptiGetVersion");
  if (session.version < kCuptiOldest) return refused((int)session.version, "a libcupti that is older than CUDA 12.0");
  if (other.was_first)
    return refused(0, "another tool of the program had registered callbacks with CUPTI before; run without that tool");
  if (!probe()) return false;
  // Once in a process: a further registration would make the time of one record wrong.
  int answer = session.cupti.register_timestamp(monotonic);
  if (answer != CUPTI_OK) return refused(answer, "cuptiActivityRegisterTimestampCallback");
  configure();
  answer = session.cupti.register_callbacks(request_buffer, buffer_done);
  if (answer != CUPTI_OK) return refused(answer, "cuptiActivityRegisterCallbacks");
  session.started_ns = monotonic();
  put_note_text(MLRUN_GPU_STARTED, session.version, found.path);
  const char *what = NULL;
  answer = switch_kinds_on(&what);
  return answer == CUPTI_OK || refused(answer, what);
}

static void start(void) {
  const struct mlrun_producer *producer = session_producer();
  if (!producer || !(producer->streams() & MLRUN_STREAM_GPU)) return;
  uint32_t idle = kIdle;
  if (!__atomic_compare_exchange_n(&session.state, &idle, kStarting, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  session.producer = producer;
  session.owner = (int)raw_syscall0(SYS_getpid);
  bool running = start_cupti();
  __atomic_store_n(&session.state, running ? kRunning : kOff, __ATOMIC_RELEASE);
  if (!running) return;
  session.producer->count_gpu_process();
  if (start_flusher()) return;
  stop_folding();  // no flusher: nothing would write the folds
  put_note_text(MLRUN_GPU_OFF, 0, "pthread_create");
}

// Called by CUDA's driver. Always returns 1: otherwise the program would see a failure.
int InitializeInjection(void);
EXPORT int InitializeInjection(void) {
  start();
  return 1;
}
