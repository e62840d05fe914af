// SPDX-License-Identifier: Apache-2.0
// system and popen: libc starts the shell itself, past every other hook; it is traced because it inherits the
// environment. If the program has removed the library from the environment, or is confined, the shell is not traced, and
// the record has the reason: a temporary change of the environment would be visible to other threads.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/base/real_function.h"
#include "preload/calls/descriptor_call.h"
#include "preload/calls/process_call.h"
#include "preload/exec/exec_environment.h"

// Why the shell will not be traced, in the same terms as for an exec with an environment that cannot be changed.
static enum mlrun_exec_target what_stands_against_the_shell(void) {
  if (!recording_system_calls_allowed()) return MLRUN_EXEC_UNREACHABLE;
  const struct exec_target shell = {.verdict = MLRUN_EXEC_TRACED};
  struct environment_plan plan = plan_environment(__environ, &shell);
  return plan.change == kPreloadAdd || plan.add_session ? MLRUN_EXEC_TOO_LARGE : MLRUN_EXEC_TRACED;
}

EXPORT int system(const char *command) {
  REAL(int, system, const char *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_system, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  if (call.start) call.requested = what_stands_against_the_shell();
  int result = real(command);
  end_call(&call, result);
  return result;
}

EXPORT FILE *popen(const char *command, const char *mode) {
  REAL(FILE *, popen, const char *, const char *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_popen, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  if (call.start) call.requested = what_stands_against_the_shell();
  FILE *stream = real(command, mode);
  end_making_call(&call, stream ? stream->_fileno : -1);
  return stream;
}
