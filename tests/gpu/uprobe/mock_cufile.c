// SPDX-License-Identifier: Apache-2.0
// Mock libcufile.so.0 without a GPU, for uprobes: its exports have cuFile's arguments. mock_mode() sets how it moves
// bytes: by its own reads and writes (compatibility mode) in the calling thread or in another one, in two pieces, or
// without any call, as the driver does. Deregistered handles are reused.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { CU_FILE_INVALID_VALUE = 5005, CU_FILE_INVALID_HANDLE = 5022, kHandles = 64, kPieces = 2 };
enum mode { kInCaller, kInThread, kByDriver };

typedef struct {
  int err, cu_err;
} CUfileError_t;
typedef struct {
  int type;
  union {
    int fd;
    void *handle;
  } handle;
  const void *fs_ops;
} CUfileDescr_t;
typedef void *CUfileHandle_t;

static struct handle {
  bool used;
  int fd;
} handles[kHandles];
static enum mode mode;

void mock_mode(int how) { mode = (enum mode)how; }

static struct handle *find(CUfileHandle_t handle) {
  for (int i = 0; i < kHandles; i++) {
    if (handle == &handles[i] && handles[i].used) return &handles[i];
  }
  return NULL;
}

// The handle stays valid when the program closes its descriptor.
CUfileError_t cuFileHandleRegister(CUfileHandle_t *handle, CUfileDescr_t *descriptor) {
  int fd = descriptor && descriptor->type == 1 ? fcntl(descriptor->handle.fd, F_DUPFD_CLOEXEC, 100) : -1;
  for (int i = 0; i < kHandles && fd >= 0; i++) {
    if (handles[i].used) continue;
    handles[i] = (struct handle){true, fd};
    *handle = &handles[i];
    return (CUfileError_t){0, 0};
  }
  return (CUfileError_t){CU_FILE_INVALID_VALUE, 0};
}

void cuFileHandleDeregister(CUfileHandle_t handle) {
  struct handle *known = find(handle);
  if (!known) return;
  close(known->fd);
  known->used = false;
}

struct piece {
  int fd;
  char *buffer;
  size_t bytes;
  off_t offset;
  bool writes;
};

static ssize_t move_piece(const struct piece *piece) {
  return piece->writes ? pwrite(piece->fd, piece->buffer, piece->bytes, piece->offset)
                       : pread(piece->fd, piece->buffer, piece->bytes, piece->offset);
}

static void *move_pieces(void *argument) {
  const struct piece *whole = argument;
  ssize_t moved = 0;
  for (size_t i = 0; i < kPieces; i++) {
    struct piece piece = *whole;
    size_t begin = whole->bytes * i / kPieces, end = whole->bytes * (i + 1) / kPieces;
    piece.buffer += begin;
    piece.offset += (off_t)begin;
    piece.bytes = end - begin;
    ssize_t got = move_piece(&piece);
    if (got > 0) moved += got;
  }
  return (void *)moved;
}

static ssize_t move(CUfileHandle_t handle, void *base, size_t bytes, off_t offset, off_t buffer_offset, bool writes) {
  const struct handle *known = find(handle);
  if (!known) return -CU_FILE_INVALID_HANDLE;
  struct piece piece = {known->fd, (char *)base + buffer_offset, bytes, offset, writes};
  if (mode == kInCaller) return move_piece(&piece);
  if (mode == kInThread) {
    pthread_t thread;
    void *moved = NULL;
    if (pthread_create(&thread, NULL, move_pieces, &piece) != 0) return -1;
    pthread_join(thread, &moved);
    return (ssize_t)moved;
  }
  struct stat status;
  if (fstat(known->fd, &status) != 0) return -1;
  off_t there = writes ? (off_t)bytes : status.st_size - offset;
  return there < (off_t)bytes ? there : (ssize_t)bytes;
}

ssize_t cuFileRead(CUfileHandle_t handle, void *base, size_t bytes, off_t offset, off_t buffer_offset) {
  return move(handle, base, bytes, offset, buffer_offset, false);
}
ssize_t cuFileWrite(CUfileHandle_t handle, const void *base, size_t bytes, off_t offset, off_t buffer_offset) {
  return move(handle, (void *)base, bytes, offset, buffer_offset, true);
}

CUfileError_t cuFileReadAsync(CUfileHandle_t handle, void *base, size_t *bytes, off_t *offset, off_t *buffer_offset,
                              ssize_t *done, void *stream) {
  *done = move(handle, base, *bytes, *offset, *buffer_offset, false);
  return (CUfileError_t){stream ? 0 : CU_FILE_INVALID_VALUE, 0};
}
CUfileError_t cuFileWriteAsync(CUfileHandle_t handle, void *base, size_t *bytes, off_t *offset, off_t *buffer_offset,
                               ssize_t *done, void *stream) {
  *done = move(handle, base, *bytes, *offset, *buffer_offset, true);
  return (CUfileError_t){stream ? 0 : CU_FILE_INVALID_VALUE, 0};
}

// Batches. Operations move when they are handed in, in another thread if mock_mode() says so, and are over when the program
// asks: the last one first, so that their order does not tell which is which.
enum { CUFILE_INVALID = 4, CUFILE_CANCELED = 8, CUFILE_COMPLETE = 16, CUFILE_FAILED = 64, kOperations = 1024 };
typedef struct {
  int mode;
  void *buffer;
  off_t file_offset, buffer_offset;
  size_t bytes;
  CUfileHandle_t handle;
  int opcode;
  void *cookie;
} CUfileIOParams_t;
typedef struct {
  void *cookie;
  int status;
  size_t result;
} CUfileIOEvents_t;

struct batch {
  int count;
  CUfileIOEvents_t results[kOperations];
};

CUfileError_t cuFileBatchIOSetUp(void **batch, unsigned count) {
  *batch = calloc(1, sizeof(struct batch));
  return (CUfileError_t){*batch && count <= kOperations ? 0 : CU_FILE_INVALID_VALUE, 0};
}

static CUfileIOEvents_t do_operation(const CUfileIOParams_t *operation) {
  if (operation->mode != 1 || operation->opcode < 0 || operation->opcode > 1)
    return (CUfileIOEvents_t){operation->cookie, CUFILE_INVALID, (size_t)-1};
  ssize_t moved = move(operation->handle, operation->buffer, operation->bytes, operation->file_offset,
                       operation->buffer_offset, operation->opcode == 1);
  return (CUfileIOEvents_t){operation->cookie, moved < 0 ? CUFILE_FAILED : CUFILE_COMPLETE, (size_t)moved};
}

CUfileError_t cuFileBatchIOSubmit(void *handle, unsigned count, CUfileIOParams_t *operations, unsigned flags) {
  struct batch *batch = handle;
  if (!batch || !count || flags || batch->count + (int)count > kOperations)
    return (CUfileError_t){CU_FILE_INVALID_VALUE, 0};
  for (unsigned i = 0; i < count; i++) batch->results[batch->count++] = do_operation(&operations[i]);
  return (CUfileError_t){0, 0};
}

CUfileError_t cuFileBatchIOGetStatus(void *handle, unsigned least, unsigned *count, CUfileIOEvents_t *results,
                                     const void *timeout) {
  struct batch *batch = handle;
  unsigned most = *count;
  (void)timeout;
  for (*count = 0; *count < most && batch->count; ++*count) results[*count] = batch->results[--batch->count];
  return (CUfileError_t){*count < least ? CU_FILE_INVALID_VALUE : 0, 0};
}

CUfileError_t cuFileBatchIOCancel(void *handle) {
  struct batch *batch = handle;
  for (int i = 0; i < batch->count; i++) {
    batch->results[i].status = CUFILE_CANCELED;
    batch->results[i].result = 0;
  }
  return (CUfileError_t){0, 0};
}

void cuFileBatchIODestroy(void *handle) { free(handle); }
