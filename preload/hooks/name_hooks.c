// SPDX-License-Identifier: Apache-2.0
// Calls on names whose result is no number, and calls without a name: realpath, mkdtemp, sync.
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/path_call.h"

// into, room: the buffer that the call writes. A template is read after the call, when it has the name that libc chose.
#define NAME_CALL(kind_, name, number, into, room)                                                             \
  struct path_call call PATH_CALL_CLEANUP = {.call = {.kind = (kind_), .fd = AT_FDCWD, .requested = (number)}, \
                                             .path = (name),                                                   \
                                             .out = (into),                                                    \
                                             .out_bytes = (room)};                                             \
  begin_path_call(&call)

EXPORT char *realpath(const char *path, char *resolved) {
  REAL(char *, realpath, const char *, char *);
  NAME_CALL(KIND_realpath, path, 0, resolved, PATH_MAX);
  char *result = real(path, resolved);
  end_path_call(&call, result ? 0 : -1);
  return result;
}

// Before glibc 2.3 realpath could not allocate its result.
OLD_VERSION(char *, realpath, "GLIBC_2.2.5", (const char *path, char *resolved)) {
  REAL_OLD(char *, realpath, "GLIBC_2.2.5", const char *, char *);
  NAME_CALL(KIND_realpath, path, 0, resolved, PATH_MAX);
  char *result = real(path, resolved);
  end_path_call(&call, result ? 0 : -1);
  return result;
}

char *__realpath_chk(const char *path, char *resolved, size_t room);
EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room) {
  REAL(char *, __realpath_chk, const char *, char *, size_t);
  NAME_CALL(KIND_realpath, path, 0, resolved, PATH_MAX);
  char *result = real(path, resolved, room);
  end_path_call(&call, result ? 0 : -1);
  return result;
}

EXPORT char *canonicalize_file_name(const char *path) {
  REAL(char *, canonicalize_file_name, const char *);
  NAME_CALL(KIND_realpath, path, 0, NULL, 0);
  char *result = real(path);
  end_path_call(&call, result ? 0 : -1);
  return result;
}

// The name is known after the call.
EXPORT char *mkdtemp(char *template) {
  REAL(char *, mkdtemp, char *);
  NAME_CALL(KIND_mkdtemp, template, 0700, NULL, 0);
  char *result = real(template);
  end_path_call(&call, result ? 0 : -1);
  return result;
}

EXPORT void sync(void) {
  REAL(void, sync, void);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_sync, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  real();
  end_call(&call, 0);
}
