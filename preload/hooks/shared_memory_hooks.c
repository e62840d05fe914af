// SPDX-License-Identifier: Apache-2.0
// Shared memory and named semaphores: libc makes files in /dev/shm for them, whose paths are recorded.
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/base/real_function.h"
#include "preload/base/scratch.h"
#include "preload/calls/capture.h"
#include "preload/calls/path_call.h"

// libc's path for `name` in a scratch page; null: no page is free, or the name is unreadable.
static char *shared_path(const char *folder, const char *name) {
  char *page = scratch_take();
  size_t length = strlen(folder), bytes, slashes = 0;
  if (!page) return NULL;
  char *copy = page + length;
  if (!copy_string_from_program(copy, name, kScratchBytes - 32, &bytes)) {
    scratch_give(page);
    return NULL;
  }
  while (slashes < bytes && copy[slashes] == '/') slashes++;
  memcpy(page, folder, length);
  memmove(copy, copy + slashes, bytes - slashes);
  copy[bytes - slashes] = 0;
  return page;
}

static struct path_call shared_call(uint16_t kind, uint64_t requested) {
  return (struct path_call){.call = {.kind = kind, .fd = AT_FDCWD, .requested = requested}};
}

// The page is used only for the record: none of these calls is a cancellation point, so it is always given back.
static void end_shared_call(struct path_call *call, const char *folder, const char *name, int result) {
  int error = errno;
  call->path = call->copy = call->call.start ? shared_path(folder, name) : NULL;
  errno = error;
  end_path_call(call, result);
}

EXPORT int shm_open(const char *name, int flags, mode_t mode) {
  REAL(int, shm_open, const char *, int, mode_t);
  struct path_call call PATH_CALL_CLEANUP = shared_call(KIND_shm_open, PAIR(flags | O_NOFOLLOW | O_CLOEXEC, mode));
  call.opens = true;
  begin_path_call(&call);
  int result = real(name, flags, mode);
  end_shared_call(&call, "/dev/shm/", name, result);
  return result;
}

EXPORT int shm_unlink(const char *name) {
  REAL(int, shm_unlink, const char *);
  struct path_call call PATH_CALL_CLEANUP = shared_call(KIND_shm_unlink, 0);
  begin_path_call(&call);
  int result = real(name);
  end_shared_call(&call, "/dev/shm/", name, result);
  return result;
}

EXPORT sem_t *sem_open(const char *name, int flags, ...) {
  REAL(sem_t *, sem_open, const char *, int, ...);
  mode_t mode = 0;
  unsigned value = 0;
  if (flags & O_CREAT) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, mode_t);
    value = va_arg(list, unsigned);
    va_end(list);
  }
  struct path_call call PATH_CALL_CLEANUP = shared_call(KIND_sem_open, PAIR(flags, mode));
  begin_path_call(&call);
  sem_t *semaphore = real(name, flags, mode, value);
  end_shared_call(&call, "/dev/shm/sem.", name, semaphore == SEM_FAILED ? -1 : 0);
  return semaphore;
}

EXPORT int sem_unlink(const char *name) {
  REAL(int, sem_unlink, const char *);
  struct path_call call PATH_CALL_CLEANUP = shared_call(KIND_sem_unlink, 0);
  begin_path_call(&call);
  int result = real(name);
  end_shared_call(&call, "/dev/shm/sem.", name, result);
  return result;
}
