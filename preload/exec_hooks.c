// SPDX-License-Identifier: Apache-2.0
// The exec family and posix_spawn: the new image gets an environment that keeps it traced, and the trace says what was
// executed. A record is written before the image is replaced, because there is no after; if the call returns, a second
// one carries the error. In a vfork child the environment is taken care of and a note is left for the parent.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "preload/exec_environment.h"
#include "preload/exec_target.h"
#include "preload/old_version.h"
#include "preload/path_call.h"
#include "preload/process_record.h"
#include "preload/real_function.h"
#include "preload/recorder.h"
#include "preload/scratch.h"
#include "preload/vfork_exec.h"

struct execution {
  struct path_call path;
  struct exec_target target;
  struct environment_plan environment;
};

static void begin_execution(struct execution *e, enum call_kind kind, int dirfd, const char *path, bool search,
                            char *const *given) {
  e->path = (struct path_call){.call = {.kind = (uint16_t)kind, .fd = dirfd, .form = kCallOnPath}, .path = path};
  e->path.call.start = stamp();
  e->target = exec_target_of(dirfd, path, search);
  if (e->target.found) e->path.path = e->target.found;
  e->environment = plan_environment(given, &e->target);
  bool can_come_along = e->target.verdict == MLRUN_EXEC_TRACED || e->target.verdict == MLRUN_EXEC_UNKNOWN;
  if (e->environment.nested && e->target.verdict == MLRUN_EXEC_TRACED) e->target.verdict = MLRUN_EXEC_NESTED;
  if (e->environment.untraced && can_come_along) e->target.verdict = MLRUN_EXEC_TOO_LARGE;
  e->path.call.requested = e->target.verdict;
}

static bool will_fail(const struct execution *e) {
  int error = e->target.error;
  return error == ENOENT || error == ENOTDIR || error == EBADF || error == EFAULT || error == ELOOP ||
         error == ENAMETOOLONG;
}

static void announce_execution(struct execution *e) {
  if (in_vfork_child() && !e->target.error) note_vfork_execution(e->path.path, e->target.verdict);
  if (!e->path.call.start || will_fail(e)) return;
  process_end_write(0);
  put_path_call(&e->path, e->path.call.start, 0, 0, MLRUN_CALL_PASSED_FD);
}

// error: 0 or an errno value; the path is read only if the kernel did not object to it.
static void finish_execution(struct execution *e, int64_t result, int error) {
  if (!e->path.call.start) return;
  put_path_call(&e->path, now_ticks(), error ? -error : result, error, MLRUN_CALL_PASSED_FD);
}

static int execution_failed(struct execution *e, int result) {
  finish_execution(e, result, errno);
  if (in_vfork_child()) forget_vfork_execution();
  scratch_give(e->target.found);
  return result;
}

static int execute(const char *path, char *const *arguments, char *const *given) {
  REAL(int, execve, const char *, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, AT_FDCWD, path, false, given);
  char *space[e.environment.words + 1];
  announce_execution(&e);
  return execution_failed(&e, real(path, arguments, make_environment(&e.environment, space)));
}

static int execute_from_path(const char *name, char *const *arguments, char *const *given) {
  REAL(int, execvpe, const char *, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, AT_FDCWD, name, true, given);
  char *space[e.environment.words + 1];
  announce_execution(&e);
  return execution_failed(&e, real(name, arguments, make_environment(&e.environment, space)));
}

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  return execute(path, arguments, environment);
}
EXPORT int execv(const char *path, char *const arguments[]) { return execute(path, arguments, environ); }
EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[]) {
  return execute_from_path(name, arguments, environment);
}
EXPORT int execvp(const char *name, char *const arguments[]) { return execute_from_path(name, arguments, environ); }

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[]) {
  REAL(int, fexecve, int, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, fd, "", false, environment);
  char *space[e.environment.words + 1];
  announce_execution(&e);
  return execution_failed(&e, real(fd, arguments, make_environment(&e.environment, space)));
}

EXPORT int execveat(int dirfd, const char *path, char *const arguments[], char *const environment[], int flags) {
  REAL(int, execveat, int, const char *, char *const *, char *const *, int);
  if (!real) return (int)missing_function();
  struct execution e;
  begin_execution(&e, KIND_execve, dirfd, path, false, environment);
  char *space[e.environment.words + 1];
  announce_execution(&e);
  return execution_failed(&e, real(dirfd, path, arguments, make_environment(&e.environment, space), flags));
}

// Arguments after `first` up to the null, `first` included.
static size_t count_arguments(const char *first, va_list *rest) {
  size_t count = 0;
  for (const char *argument = first; argument; argument = va_arg(*rest, const char *)) count++;
  return count;
}

// Leaves `rest` behind the null.
static void copy_arguments(char **into, const char *first, va_list *rest) {
  *into++ = (char *)first;
  while (first) *into++ = (char *)(first = va_arg(*rest, const char *));
}

EXPORT int execl(const char *path, const char *first, ...) {
  va_list rest, again;
  va_start(rest, first);
  va_copy(again, rest);
  char *arguments[count_arguments(first, &again) + 1];
  va_end(again);
  copy_arguments(arguments, first, &rest);
  va_end(rest);
  return execute(path, arguments, environ);
}

EXPORT int execlp(const char *name, const char *first, ...) {
  va_list rest, again;
  va_start(rest, first);
  va_copy(again, rest);
  char *arguments[count_arguments(first, &again) + 1];
  va_end(again);
  copy_arguments(arguments, first, &rest);
  va_end(rest);
  return execute_from_path(name, arguments, environ);
}

EXPORT int execle(const char *path, const char *first, ...) {
  va_list rest, again;
  va_start(rest, first);
  va_copy(again, rest);
  char *arguments[count_arguments(first, &again) + 1];
  va_end(again);
  copy_arguments(arguments, first, &rest);
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return execute(path, arguments, environment);
}

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);

// File actions may change the directory first, so a path that cannot be found from here may exist there.
static int spawn(spawn_function *real, bool search, pid_t *child, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const arguments[], char *const given[]) {
  pid_t unwanted;
  if (!child) child = &unwanted;
  struct execution e;
  begin_execution(&e, KIND_posix_spawn, AT_FDCWD, path, search, given);
  char *space[e.environment.words + 1];
  int error = real(child, path, actions, attributes, arguments, make_environment(&e.environment, space));
  finish_execution(&e, error ? -1 : *child, error);
  scratch_give(e.target.found);
  return error;
}

EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  REAL(int, posix_spawn, pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
       char *const[], char *const[]);
  return spawn(real, false, child, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  REAL(int, posix_spawnp, pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
       char *const[], char *const[]);
  return spawn(real, true, child, name, actions, attributes, arguments, environment);
}

// Before 2.15 the shell executed what the kernel does not know the format of.
OLD_VERSION(int, posix_spawn, "GLIBC_2.2.5",
            (pid_t * child, const char *path, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])) {
  REAL_OLD(int, posix_spawn, "GLIBC_2.2.5", pid_t *, const char *, const posix_spawn_file_actions_t *,
           const posix_spawnattr_t *, char *const[], char *const[]);
  return spawn(real, false, child, path, actions, attributes, arguments, environment);
}

OLD_VERSION(int, posix_spawnp, "GLIBC_2.2.5",
            (pid_t * child, const char *name, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])) {
  REAL_OLD(int, posix_spawnp, "GLIBC_2.2.5", pid_t *, const char *, const posix_spawn_file_actions_t *,
           const posix_spawnattr_t *, char *const[], char *const[]);
  return spawn(real, true, child, name, actions, attributes, arguments, environment);
}
