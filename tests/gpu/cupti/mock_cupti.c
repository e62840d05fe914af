// SPDX-License-Identifier: Apache-2.0
// libcupti.so.12 and .13 without CUDA: the interface that mlrun uses, records in the sizes of that version, filled by
// the mock CUDA. MOCK_CUPTI_... in the environment makes it behave badly:
//   SUBSCRIBE=CODE   what cuptiSubscribe returns
//   CLOCK=zero|inverted|realtime|future|unfinished|wrapped|wrapped_end   what is wrong with the times of every kernel
//   REFUSED_KIND=K   this kind of record cannot be switched on
//   DROPPED=N        number of dropped records that it reports;  UNKNOWN=1: a record that it cannot read itself
//   STUCK=1          a flush that does not return
//   TELLS=1          at the end, on stderr: clocks, callbacks and subscriptions that it was given, and those given back
//   KEEPS=1          a flush brings no buffer unless it is forced
//   DEVICES=late|never   device records come only on request for existing devices, or not at all
//   OVERHEAD=1       emits records of its own work for each kernel and each flush that returns data
//   GPU=N, MIG=N     which GPU by its UUID, which instance of it; 0 (the default) is no instance
// A child of the process that called it first may not call it: it prints an error and aborts.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cupti/cupti_abi.h"
#include "mock_work.h"

enum { kKinds = 64, kThreadsMax = 256, kCalls = 2048, kTimestampsMax = 64 };

struct size_of_kind {
  uint32_t kind;
  size_t bytes[2];  // version 12.0, 13.0
};
static const struct size_of_kind sizes[] = {
    {CUPTI_MEMCPY, {88, 96}},    {CUPTI_MEMSET, {80, 88}},     {CUPTI_DRIVER, {40, 40}},
    {CUPTI_RUNTIME, {40, 40}},   {CUPTI_DEVICE, {176, 184}},   {CUPTI_CONCURRENT_KERNEL, {208, 216}},
    {CUPTI_OVERHEAD, {40, 56}},  {CUPTI_MEMCPY2, {88, 96}},    {CUPTI_SYNCHRONIZATION, {40, 56}},
    {CUPTI_MEMORY2, {120, 128}}, {CUPTI_GRAPH_TRACE, {48, 56}}};

struct buffer {
  uint8_t *at;
  size_t bytes, used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer gpu_buffer, thread_buffers[kThreadsMax];
static int threads;
static __thread int own_buffer = -1;
static cupti_request_buffer request;
static cupti_buffer_done done;
static cupti_timestamp timestamp;
static int enabled[kKinds], driver_calls[kCalls], runtime_off[kCalls];
static uint32_t last_correlation;
static size_t dropped;
static int flushes;
static cupti_timestamp spoilt[kTimestampsMax];
static int timestamps;
static uint8_t thread_buffers_wanted = 1;
static size_t made_before = 3;
static int all_syncs = 1, callbacks, subscriptions, given_back;

const char *setting(const char *name) { return getenv(name) ? getenv(name) : ""; }

static size_t bytes_of(uint32_t kind) {
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (sizes[i].kind == kind) return sizes[i].bytes[MOCK_MAJOR - 12];
  return 0;
}

// CUPTI is undefined in a forked child of a process that has used it. If the process has only loaded the library, any
// child may be the first user.
static void expect_owner(const char *function) {
  static pid_t owner;
  pid_t expected = 0, own = getpid();
  if (__atomic_compare_exchange_n(&owner, &expected, own, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || expected == own)
    return;
  fprintf(stderr, "mock cupti: %s in process %d, but it is process %d that uses it\n", function, own, expected);
  abort();
}
#define EXPECT_OWNER expect_owner(__func__)

uint64_t now(void) {
  if (timestamp) return timestamp();
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void hand_over(struct buffer *buffer) {
  struct buffer full = *buffer;
  *buffer = (struct buffer){0};
  if (full.at) done(NULL, 0, full.at, full.bytes, full.used);
}

static void *add(struct buffer *buffer, uint32_t kind) {
  size_t bytes = bytes_of(kind), most = 0;
  if ((!enabled[kind] && kind != CUPTI_DRIVER) || !request) return NULL;  // of that single calls may be enabled
  if (buffer->at && buffer->used + bytes > buffer->bytes) hand_over(buffer);
  if (!buffer->at) {
    request(&buffer->at, &buffer->bytes, &most);
    buffer->used = 0;
  }
  if (!buffer->at) {
    dropped++;
    return NULL;
  }
  if (!buffer->used) memset(buffer->at, 0, buffer->bytes);
  uint8_t *record = buffer->at + buffer->used;
  buffer->used += bytes;
  *(uint32_t *)record = kind;
  return record;
}

void *add_work(uint32_t kind) { return add(&gpu_buffer, kind); }

// 12.0 and 12.1 write the oldest record of it, which has no more than this; newer ones more about it, their client's to free.
void add_overhead(uint32_t kind) {
  if (!*setting("MOCK_CUPTI_OVERHEAD")) return;
  struct cupti_overhead *overhead = add_work(CUPTI_OVERHEAD);
  if (!overhead) return;
  overhead->overhead_kind = kind;
  overhead->start = now();
  overhead->end = overhead->start + 700;
  if (bytes_of(CUPTI_OVERHEAD) >= sizeof(struct cupti_overhead_with_data))
    ((struct cupti_overhead_with_data *)overhead)->data = malloc(12);
}

void add_unknown(void) {
  if (!*setting("MOCK_CUPTI_UNKNOWN") || !gpu_buffer.at) return;
  *(uint32_t *)(gpu_buffer.at + gpu_buffer.used) = 21;
  gpu_buffer.used += 8;
  unsetenv("MOCK_CUPTI_UNKNOWN");
}

static struct buffer *buffer_of_thread(void) {
  if (own_buffer < 0) own_buffer = threads < kThreadsMax ? threads++ : kThreadsMax - 1;
  return &thread_buffers[own_buffer];
}

static void add_call(uint32_t kind, uint32_t function, uint32_t correlation, uint64_t start, uint64_t end) {
  if (kind == CUPTI_DRIVER ? !driver_calls[function] && !enabled[kind] : runtime_off[function]) return;
  struct cupti_api *api = add(buffer_of_thread(), kind);
  if (!api) return;
  api->function = function;
  api->start = start;
  api->end = end;
  api->pid = (uint32_t)getpid();
  api->tid = (uint32_t)syscall(SYS_gettid);
  api->correlation = correlation;
}

uint32_t add_calls(const struct mock_work *work, uint32_t runtime, uint32_t driver) {
  uint32_t correlation = ++last_correlation;
  uint64_t start = now();
  if (driver) add_call(CUPTI_DRIVER, driver, work->is_driver_call ? correlation : ++last_correlation, start, now());
  if (!work->is_driver_call) add_call(CUPTI_RUNTIME, runtime, correlation, start, now());
  return correlation;
}

void mock_cupti_work(const struct mock_work *work) {
  pthread_mutex_lock(&lock);
  add_records(work);
  pthread_mutex_unlock(&lock);
}

int cuptiGetVersion(uint32_t *version) {
  EXPECT_OWNER;
  *version = MOCK_MAJOR == 12 ? 19 : 130000;
  return 0;
}

int cuptiSubscribe(void **subscriber, void (*callback)(void *, uint32_t, uint32_t, const void *), void *data) {
  EXPECT_OWNER;
  (void)callback;
  (void)data;
  *subscriber = &lock;
  subscriptions++;
  return atoi(setting("MOCK_CUPTI_SUBSCRIBE"));
}
int cuptiUnsubscribe(void *subscriber) {
  EXPECT_OWNER;
  given_back++;
  return subscriber == &lock ? 0 : 1;
}

__attribute__((destructor)) static void tell(void) {
  if (!*setting("MOCK_CUPTI_TELLS")) return;
  fprintf(stderr, "clocks %d callbacks %d subscriptions %d given back %d all syncs %d\n", timestamps, callbacks,
          subscriptions, given_back, all_syncs);
}

int cuptiActivityRegisterCallbacks(cupti_request_buffer r, cupti_buffer_done d) {
  EXPECT_OWNER;
  callbacks++;
  request = r;
  done = d;
  dropped = (size_t)atol(setting("MOCK_CUPTI_DROPPED"));
  return 0;
}
int cuptiActivityRegisterTimestampCallback(cupti_timestamp callback) {
  EXPECT_OWNER;
  if (timestamps == kTimestampsMax) abort();
  for (int i = 0; i + 1 < timestamps; i++)
    if (spoilt[i] == callback && spoilt[timestamps - 1] != callback) abort();  // each time spoils records
  timestamp = spoilt[timestamps++] = callback;
  return 0;
}

static void add_device(void) {
  struct cupti_device *device = add_work(CUPTI_DEVICE);
  if (!device) return;
  device->memory_bytes = 80ull << 30;
  device->multiprocessors = 132;
  device->capability_major = 9;
  device->name = "Mock H200";
  for (uint8_t i = 0; i < sizeof device->uuid; i++) device->uuid[i] = (uint8_t)(i * 17);
  device->uuid[0] = (uint8_t)atoi(setting("MOCK_CUPTI_GPU"));
  device->is_mig = *setting("MOCK_CUPTI_MIG") != 0;
  memcpy(device->mig_uuid, device->uuid, sizeof device->uuid);
  device->mig_uuid[15] = (uint8_t)atoi(setting("MOCK_CUPTI_MIG"));
}

static int enable(uint32_t kind, int is_late) {
  const char *devices = setting("MOCK_CUPTI_DEVICES");
  if (!bytes_of(kind)) return CUPTI_INVALID_KIND;
  if ((uint32_t)atoi(setting("MOCK_CUPTI_REFUSED_KIND")) == kind) return CUPTI_INSUFFICIENT_PRIVILEGES;
  pthread_mutex_lock(&lock);
  enabled[kind] = 1;
  if (kind == CUPTI_DEVICE && (is_late || !*devices) && strcmp(devices, "never")) add_device();
  pthread_mutex_unlock(&lock);
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  EXPECT_OWNER;
  return enable(kind, 0);
}
int cuptiActivityEnableAndDump(uint32_t kind) {
  EXPECT_OWNER;
  return enable(kind, 1);
}
int is_on(uint32_t kind) { return enabled[kind]; }
int mock_cupti_is_on(uint32_t kind) { return is_on(kind); }

int mock_cupti_flushes(void) { return __atomic_load_n(&flushes, __ATOMIC_ACQUIRE); }

// As in a new process. What buffers hold is lost.
int cuptiFinalize(void) {
  EXPECT_OWNER;
  pthread_mutex_lock(&lock);
  request = NULL;
  done = NULL;
  memset(enabled, 0, sizeof enabled);
  memset(driver_calls, 0, sizeof driver_calls);
  gpu_buffer = (struct buffer){0};
  memset(thread_buffers, 0, sizeof thread_buffers);
  pthread_mutex_unlock(&lock);
  return 0;
}

int cuptiActivityDisable(uint32_t kind) {
  EXPECT_OWNER;
  enabled[kind] = 0;
  return 0;
}
#if MOCK_MAJOR >= 13 && !defined MOCK_IS_OLD
int cuptiSubscribe_v2(void) { return 0; }
int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable) {
  EXPECT_OWNER;
  driver_calls[function] = enable;
  return 0;
}
int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t enable) {
  EXPECT_OWNER;
  runtime_off[function] = !enable;
  return 0;
}
int cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  EXPECT_OWNER;
  all_syncs = enable;
  return 0;
}
#endif

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record) {
  EXPECT_OWNER;
  uint8_t *next = *record ? (uint8_t *)*record + bytes_of(**(uint32_t **)record) : buffer;
  if (next >= buffer + valid_bytes) return CUPTI_MAX_LIMIT_REACHED;
  if (!bytes_of(*(uint32_t *)next)) return CUPTI_INVALID_KIND;
  *record = next;
  return 0;
}

int cuptiActivityFlushAll(uint32_t flag) {
  EXPECT_OWNER;
  if (!(flag & CUPTI_FLUSH_FORCED) && *setting("MOCK_CUPTI_KEEPS")) return 0;
  while (*setting("MOCK_CUPTI_STUCK")) pause();
  pthread_mutex_lock(&lock);
  for (int i = 0; i < threads; i++) hand_over(&thread_buffers[i]);
  if (gpu_buffer.at) add_overhead(kBufferFlush);
  hand_over(&gpu_buffer);
  pthread_mutex_unlock(&lock);
  __atomic_add_fetch(&flushes, 1, __ATOMIC_RELEASE);
  return 0;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value) {
  EXPECT_OWNER;
  enum { kZeroedOut = 5 };
  if (!*bytes || !value) return 1;
  if (attribute == kZeroedOut && *(uint8_t *)value) abort();  // for every client: also one whose buffers are not
  if (attribute == CUPTI_ATTR_DEVICE_BUFFERS_BEFORE) made_before = *(size_t *)value;
  if (attribute == CUPTI_ATTR_DEVICE_BUFFER_LIMIT && *(size_t *)value <= made_before) return 1;
  if (attribute != CUPTI_ATTR_PER_THREAD_BUFFER) return 0;
  if (MOCK_MAJOR == 12) return 1;  // from 12.3 on
  for (int kind = 0; kind < kKinds; kind++)
    if (enabled[kind] && *(uint8_t *)value != thread_buffers_wanted) abort();  // "undefined behavior"
  thread_buffers_wanted = *(uint8_t *)value;
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count) {
  EXPECT_OWNER;
  (void)context;
  (void)stream;
  *count = dropped;
  dropped = 0;
  return 0;
}
int cuptiSetThreadIdType(uint32_t type) {
  EXPECT_OWNER;
  return type == CUPTI_THREAD_ID_SYSTEM ? 0 : 1;
}
