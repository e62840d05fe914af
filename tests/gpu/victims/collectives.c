// SPDX-License-Identifier: Apache-2.0
// Ranges as NCCL makes them, by NVTX's real headers: collectives ranks STEPS SKEW_US (two ranks, NCCL 2.27's schemas; for
// each step a line "sequence rank before after", CLOCK_MONOTONIC ns) | paced STEPS (the same, each step when a byte comes
// on the standard input) | old (NCCL 2.16's) | hostile.
#define _GNU_SOURCE
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kInitRank = 0, kAllReduce = 5, kBroadcast = 6, kSend = 9, kRedOp = 24, kRanks = 2 };
#define ID(number)    ((1ull << 24) + (number))
#define COMMUNICATOR  0xfedcba9876543210ull
#define ENTRIES(list) list, sizeof(list) / sizeof(list[0])

struct all_reduce {
  uint64_t comm;
  size_t bytes;
  int op;
};
struct rooted {
  uint64_t comm;
  size_t bytes;
  int root;
};
struct init_rank {
  uint64_t comm;
  int ranks, rank, device;
};

static nvtxDomainHandle_t domain;

static void schema(uint64_t id, const nvtxPayloadSchemaEntry_t *entries, size_t count, size_t size) {
  nvtxPayloadSchemaAttr_t a = {.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = count};
  a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  a.payloadStaticSize = size;
  a.schemaId = id;
  nvtxPayloadSchemaRegister(domain, &a);
}

static void reductions(void) {
  static const nvtxPayloadEnum_t names[] = {
      {"Sum", 0, 0}, {"Product", 1, 0}, {"Max", 2, 0}, {"Min", 3, 0}, {"Avg", 4, 0}};
  nvtxPayloadEnumAttr_t a = {.entries = names, .numEntries = 5, .sizeOfEnum = sizeof(int), .schemaId = ID(kRedOp)};
  a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  nvtxPayloadEnumRegister(domain, &a);
}

static void push(const char *name, nvtxPayloadData_t *data) {
  nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(domain, name);
  if (data) {
    a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    a.reserved0 = 1;
    a.payload.ullValue = (uint64_t)(uintptr_t)data;
  }
  nvtxDomainRangePushEx(domain, &a);
}

static void call(const char *name, uint64_t id, size_t size, const void *payload) {
  nvtxPayloadData_t data = {id, size, payload};
  push(name, &data);
  nvtxDomainRangePop(domain);
}

static void register_all(void) {
  static const nvtxPayloadSchemaEntry_t init[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, offsetof(struct init_rank, comm), NULL,
       NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", NULL, 0, offsetof(struct init_rank, ranks), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", NULL, 0, offsetof(struct init_rank, rank), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", NULL, 0, offsetof(struct init_rank, device), NULL, NULL}};
  static const nvtxPayloadSchemaEntry_t reduce[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, offsetof(struct all_reduce, bytes), NULL,
       NULL},
      {0, ID(kRedOp), "Reduction operation", NULL, 0, offsetof(struct all_reduce, op), NULL, NULL}};
  static nvtxPayloadSchemaEntry_t rooted[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, offsetof(struct rooted, bytes), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Root", NULL, 0, offsetof(struct rooted, root), NULL, NULL}};
  reductions();
  schema(ID(kInitRank), ENTRIES(init), sizeof(struct init_rank));
  schema(ID(kAllReduce), ENTRIES(reduce), sizeof(struct all_reduce));
  schema(ID(kBroadcast), ENTRIES(rooted), sizeof(struct rooted));
  rooted[2].name = "Peer rank";
  schema(ID(kSend), ENTRIES(rooted), sizeof(struct rooted));
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// Like ncclCommInitRank: the payload with the new communicator comes at the end of the range.
static void init_rank(int rank) {
  push("ncclCommInitRank", NULL);
  const struct init_rank made = {COMMUNICATOR, kRanks, rank, rank};
  const nvtxPayloadData_t data = {ID(kInitRank), sizeof made, &made};
  nvtxRangePopPayload(domain, &data, 1);
}

static void await_byte(void) {
  char byte;
  if (read(0, &byte, 1) != 1) exit(1);
}

// A skew below 0: the steps are paced.
static void be_rank(int rank, long steps, long skew_us, pthread_barrier_t *barrier) {
  register_all();
  init_rank(rank);
  for (long step = 0; step < steps; step++) {
    if (skew_us < 0 && rank == 0) await_byte();
    pthread_barrier_wait(barrier);
    if (skew_us > 0 && rank == 1) usleep((useconds_t)skew_us);
    const long long before = now_ns();
    const struct all_reduce reduce = {COMMUNICATOR, 4096u << (step % 2), step % 2 ? 2 : 0};
    call("ncclAllReduce", ID(kAllReduce), sizeof reduce, &reduce);
    dprintf(1, "%ld %d %lld %lld\n", step, rank, before, now_ns());
  }
  const struct rooted broadcast = {COMMUNICATOR, 1 << 20, 1}, message = {COMMUNICATOR, 77, !rank};
  call("ncclBroadcast", ID(kBroadcast), sizeof broadcast, &broadcast);
  call(rank ? "ncclRecv" : "ncclSend", ID(kSend), sizeof message, &message);
  push("ncclGroupEnd", NULL);
  nvtxDomainRangePop(domain);
}

static void ranks(long steps, long skew_us) {
  pthread_barrier_t *barrier = mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier, &shared, kRanks);
  for (int rank = 0; rank < kRanks; rank++) {
    if (fork() != 0) continue;
    domain = nvtxDomainCreateA("NCCL");
    be_rank(rank, steps, skew_us, barrier);
    exit(0);
  }
  while (wait(NULL) > 0) {
  }
}

// NCCL up to 2.24: no communicator; schemas claim to state their size but have zero; offsets of the first members are
// missing.
static void old(void) {
  struct {
    size_t bytes;
    int op;
  } reduce = {512, 4};
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, 0, NULL, NULL},
      {0, ID(kRedOp), "Reduction operation", NULL, 0, 8, NULL, NULL}};
  reductions();
  schema(ID(kAllReduce), ENTRIES(entries), 0);
  call("ncclAllReduce", ID(kAllReduce), sizeof reduce, &reduce);
  static const nvtxPayloadSchemaEntry_t gather[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, 0, NULL, NULL}};
  const size_t bytes = 99;
  schema(ID(4), ENTRIES(gather), 0);
  call("ncclAllGather", ID(4), sizeof bytes, &bytes);
}

static void hostile(void) {
  const uint64_t payload[4] = {COMMUNICATOR, 12, 34, 56};
  const nvtxPayloadSchemaEntry_t size = {0,   NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0, 8, NULL,
                                         NULL};
  const nvtxPayloadSchemaEntry_t beyond[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0, 25, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "far", NULL, 0, UINT64_MAX - 3, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "behind it", NULL, 0, 0, NULL, NULL},
      size};
  const nvtxPayloadSchemaEntry_t nested[] = {
      {0, ID(1), "nested", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "behind it", NULL, 0, 0, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "array", NULL, UINT64_MAX, 8, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_INT, "array", NULL, 1, 8, NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_TYPE_INT, "pointer", NULL, 0, 16, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 1u << 31, 16, NULL, NULL},
      {0, 99, "no such type", NULL, 0, 16, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "li\nne \xff", NULL, 0, 24, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, NULL, NULL, 0, 25, NULL, NULL}};
  schema(ID(1), ENTRIES(beyond), SIZE_MAX);
  schema(ID(2), ENTRIES(nested), 0);
  schema(ID(3), &size, 1, 0);
  schema(ID(4), &size, 257, sizeof payload);  // more members than the limit: none is read
  call("ncclBeyond", ID(1), sizeof payload, payload);
  call("ncclNested", ID(2), sizeof payload, payload);
  call("ncclNothing", ID(3), 0, payload);
  call("ncclNull", ID(3), sizeof payload, NULL);
  call("ncclEndless", ID(3), SIZE_MAX, payload);
  call("ncclMany", ID(4), sizeof payload, payload);
  call("ncclUnknown", ID(1000), sizeof payload, payload);
  call("ncclNoSchema", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof payload, payload);
  push("ncclNoList", NULL);
  nvtxRangePopPayload(domain, NULL, SIZE_MAX);
  nvtxRangePushPayload(domain, NULL, 0);
  nvtxDomainRangePop(domain);
  nvtxPayloadSchemaRegister(domain, NULL);
  nvtxPayloadEnumRegister(domain, NULL);
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "ranks")) {
    ranks(atol(argv[2]), atol(argv[3]));
    return 0;
  }
  if (argc > 2 && !strcmp(argv[1], "paced")) {
    ranks(atol(argv[2]), -1);
    return 0;
  }
  domain = nvtxDomainCreateA("NCCL");
  if (argc > 1 && !strcmp(argv[1], "old")) old();
  if (argc > 1 && !strcmp(argv[1], "hostile")) hostile();
  return 0;
}
