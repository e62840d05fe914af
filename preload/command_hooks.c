// SPDX-License-Identifier: Apache-2.0
// system and popen: libc starts the shell by itself, past every other hook; it is traced because it inherits the
// environment.
#include <stdio.h>
#include <stdlib.h>

#include "preload/descriptor_call.h"
#include "preload/process_call.h"
#include "preload/real_function.h"

EXPORT int system(const char *command) {
  REAL(int, system, const char *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_system, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  int result = real(command);
  end_call(&call, result);
  return result;
}

EXPORT FILE *popen(const char *command, const char *mode) {
  REAL(FILE *, popen, const char *, const char *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_popen, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  FILE *stream = real(command, mode);
  end_making_call(&call, stream ? stream->_fileno : -1);
  return stream;
}
