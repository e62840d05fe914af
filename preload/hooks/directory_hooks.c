// SPDX-License-Identifier: Apache-2.0
// Directory streams: readdir returns entries of a buffer that the kernel fills. Within one buffer the addresses of the
// entries rise; an address that does not shows a refill. One record per refill, with the readdir calls since the last one.
#include <dirent.h>

#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/path_call.h"
#include "preload/calls/traced_call.h"

static int descriptor_of(DIR *directory) {
  LIBC(int, dirfd, DIR *);
  return libc_dirfd(directory);
}

EXPORT DIR *opendir(const char *path) {
  REAL(DIR *, opendir, const char *);
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_opendir,
      .call.fd = AT_FDCWD,
      .path = path,
      .opens = true,
      .looks_up = true,
      .call.requested = PAIR(O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC, 0)};
  begin_path_call(&call);
  DIR *directory = real(path);
  end_path_call(&call, directory ? descriptor_of(directory) : -1);
  return directory;
}

EXPORT DIR *fdopendir(int fd) {
  REAL(DIR *, fdopendir, int);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_fdopendir, .fd = fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  DIR *directory = real(fd);
  end_call(&call, directory ? fd : -1);
  return directory;
}

static int traced_closedir(int (*real)(DIR *), DIR *directory) {
  __asm__("" : "+r"(directory));  // declared nonnull, but libc answers null with an error
  if (!directory) return real(directory);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_closedir, .fd = descriptor_of(directory), .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  fd_set_open_file(call.fd, 0);
  int result = real(directory);
  end_call(&call, result);
  return result;
}

EXPORT int closedir(DIR *directory) {
  REAL(int, closedir, DIR *);
  return traced_closedir(real, directory);
}

// Counts the call; true if `dirent` (null: the end) came with a refill. The buffer is one allocation, so that the low
// halves of its addresses keep their order.
static bool is_refill(struct fd_entry *entry, const void *dirent) {
  if (!entry) return true;
  uint32_t at = (uint32_t)(uintptr_t)dirent, last = entry->last_place;
  entry->buffered_calls++;
  entry->last_place = at;
  return !at || !last || (int32_t)(at - last) <= 0;
}

// error: errno of the call, 0 at the end of the folder. Only errno, which the end leaves unchanged, shows an error.
static void end_readdir(struct pending_call *call, const void *dirent, int error) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  struct fd_entry *entry = fd_entry_of(call->fd);
  if (!is_refill(entry, dirent)) return;
  call->arg2 = entry ? entry->buffered_calls : 1;
  if (entry) entry->buffered_calls = 0;
  put_call(call, now_ticks(), dirent ? 1 : -(int64_t)error, MLRUN_CALL_STDIO);
}

#define READDIR_HOOK(symbol_name, type)                                                   \
  EXPORT type *symbol_name(DIR *directory) {                                              \
    REAL(type *, symbol_name, DIR *);                                                     \
    struct pending_call call CALL_CLEANUP = {                                             \
        .kind = KIND_readdir, .fd = descriptor_of(directory), .offset = MLRUN_NO_OFFSET}; \
    begin_call(&call);                                                                    \
    int before = errno;                                                                   \
    errno = 0;                                                                            \
    type *dirent = real(directory);                                                       \
    int error = errno;                                                                    \
    if (!error) errno = before;                                                           \
    end_readdir(&call, dirent, error);                                                    \
    return dirent;                                                                        \
  }
READDIR_HOOK(readdir, struct dirent)
READDIR_HOOK(readdir64, struct dirent64)

// readdir_r copies the entry. The copy does not show the position in libc's buffer, and so not whether the call read the
// folder: each call is a record.
static void end_copied_entry(struct pending_call *call, bool found, int error) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  call->arg2 = 1;
  put_call(call, now_ticks(), error ? -(int64_t)error : found, MLRUN_CALL_STDIO);
}

// readdir_r does not set errno: it returns 0 or the error, and stores the entry (null at the end) through a parameter.
#define READDIR_R_HOOK(symbol_name, type)                                                 \
  EXPORT int symbol_name(DIR *directory, type *room, type **entry) {                      \
    REAL(int, symbol_name, DIR *, type *, type **);                                       \
    struct pending_call call CALL_CLEANUP = {                                             \
        .kind = KIND_readdir, .fd = descriptor_of(directory), .offset = MLRUN_NO_OFFSET}; \
    begin_call(&call);                                                                    \
    int error = real(directory, room, entry);                                             \
    end_copied_entry(&call, !error && *entry, error);                                     \
    return error;                                                                         \
  }
READDIR_R_HOOK(readdir_r, struct dirent)
READDIR_R_HOOK(readdir64_r, struct dirent64)
