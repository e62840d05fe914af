// SPDX-License-Identifier: Apache-2.0
// POSIX asynchronous I/O. libc's own threads move the bytes, unseen. The program submits requests and takes results: each
// of these calls has a record, and bytes are counted when the result is taken.
#include <aio.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/traced_call.h"
#include "preload/core/program_memory.h"

_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "one layout for both");

static struct pending_call request_call(uint32_t kind, const struct aiocb *request) {
  return (struct pending_call){.kind = (uint16_t)kind,
                               .fd = request->aio_fildes,
                               .requested = request->aio_nbytes,
                               .offset = (uint64_t)request->aio_offset};
}

#define HAND_IN_HOOK(symbol_name, kind, type)                                                         \
  EXPORT int symbol_name(struct type *request) {                                                      \
    REAL(int, symbol_name, struct type *);                                                            \
    struct pending_call call CALL_CLEANUP = request_call(KIND_##kind, (const struct aiocb *)request); \
    begin_call(&call);                                                                                \
    int result = real(request);                                                                       \
    end_call(&call, result);                                                                          \
    return result;                                                                                    \
  }
HAND_IN_HOOK(aio_read, aio_read, aiocb)
HAND_IN_HOOK(aio_read64, aio_read, aiocb64)
HAND_IN_HOOK(aio_write, aio_write, aiocb)
HAND_IN_HOOK(aio_write64, aio_write, aiocb64)

static struct pending_call sync_call(uint32_t kind, const struct aiocb *request) {
  return (struct pending_call){.kind = (uint16_t)kind, .fd = request->aio_fildes, .offset = MLRUN_NO_OFFSET};
}

#define SYNC_HOOK(symbol_name, type)                                                                  \
  EXPORT int symbol_name(int operation, struct type *request) {                                       \
    REAL(int, symbol_name, int, struct type *);                                                       \
    struct pending_call call CALL_CLEANUP = sync_call(KIND_aio_fsync, (const struct aiocb *)request); \
    begin_call(&call);                                                                                \
    int result = real(operation, request);                                                            \
    end_call(&call, result);                                                                          \
    return result;                                                                                    \
  }
SYNC_HOOK(aio_fsync, aiocb)
SYNC_HOOK(aio_fsync64, aiocb64)

// The result has the same operation as the request: libc keeps it in the request.
static struct pending_call result_call(const struct aiocb *request) {
  if (request->aio_lio_opcode == LIO_READ) return request_call(KIND_aio_read_done, request);
  if (request->aio_lio_opcode == LIO_WRITE) return request_call(KIND_aio_write_done, request);
  return sync_call(KIND_aio_return, request);
}

// The error of a failed request is in the request, not in errno.
static void end_taking(struct pending_call *call, const struct aiocb *request, ssize_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  put_call(call, now_ticks(), result == -1 ? -(int64_t)request->__error_code : result, 0);
}

#define TAKE_OUT_HOOK(symbol_name, type)                                                \
  EXPORT ssize_t symbol_name(struct type *request) {                                    \
    REAL(ssize_t, symbol_name, struct type *);                                          \
    struct pending_call call CALL_CLEANUP = result_call((const struct aiocb *)request); \
    begin_call(&call);                                                                  \
    ssize_t result = real(request);                                                     \
    end_taking(&call, (const struct aiocb *)request, result);                           \
    return result;                                                                      \
  }
TAKE_OUT_HOOK(aio_return, aiocb)
TAKE_OUT_HOOK(aio_return64, aiocb64)

// Writes one record for lio_listio, whose duration includes its wait, and one for each request in the list. A request's
// memory is copied, because it may be gone once the request has ended.
static void end_listing(struct pending_call *call, const struct aiocb *const *list, int count, int result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  put_call(call, end, result == -1 ? -(int64_t)errno : result, 0);
  for (int i = 0; i < count; i++) {
    const struct aiocb *at;
    struct aiocb request;
    if (!read_from_program(&at, &list[i], sizeof at, false)) return;
    if (!at || !read_from_program(&request, at, sizeof request, false) || request.aio_lio_opcode == LIO_NOP) continue;
    bool reads = request.aio_lio_opcode == LIO_READ;
    struct pending_call one = request_call(reads ? KIND_aio_read : KIND_aio_write, &request);
    one.start = end;
    one.open_file = open_file_of(one.fd);
    put_call(&one, end, 0, 0);
  }
}

typedef int list_function(int, struct aiocb *const[], int, struct sigevent *);

static int list_requests(list_function *real, int mode, struct aiocb *const list[], int count, struct sigevent *event) {
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_lio_listio, .fd = -1, .requested = (uint64_t)count, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  int result = real(mode, list, count, event);
  end_listing(&call, (const struct aiocb *const *)list, count, result);
  return result;
}

#define LIST_HOOK(symbol_name, type)                                                               \
  EXPORT int symbol_name(int mode, struct type *const list[], int count, struct sigevent *event) { \
    REAL(int, symbol_name, int, struct aiocb *const[], int, struct sigevent *);                    \
    return list_requests(real, mode, (struct aiocb *const *)list, count, event);                   \
  }
LIST_HOOK(lio_listio, aiocb)
LIST_HOOK(lio_listio64, aiocb64)

// lio_listio has three symbol versions, since before 2.4 it passed on another mode: the first, GLIBC_2.4, and since 2.34 the default.
#define OLD_LIST_HOOK(symbol_name, type)                                                           \
  VERSION_AS(mlrun_old_2_4_##symbol_name, int, symbol_name, "GLIBC_2.4",                           \
             (int mode, struct type *const list[], int count, struct sigevent *event)) {           \
    REAL_OLD(int, symbol_name, "GLIBC_2.4", int, struct aiocb *const[], int, struct sigevent *);   \
    return list_requests(real, mode, (struct aiocb *const *)list, count, event);                   \
  }                                                                                                \
  OLD_VERSION(int, symbol_name, "GLIBC_2.2.5",                                                     \
              (int mode, struct type *const list[], int count, struct sigevent *event)) {          \
    REAL_OLD(int, symbol_name, "GLIBC_2.2.5", int, struct aiocb *const[], int, struct sigevent *); \
    return list_requests(real, mode, (struct aiocb *const *)list, count, event);                   \
  }
OLD_LIST_HOOK(lio_listio, aiocb)
OLD_LIST_HOOK(lio_listio64, aiocb64)
