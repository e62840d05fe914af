// SPDX-License-Identifier: Apache-2.0
// The exec family and posix_spawn: the new image gets an environment that keeps it traced, and the exec is recorded.
// The record is written before the call, because a successful exec replaces this code. If the call returns, a second
// record with the same start has the error, and readers drop the first. In a vfork child only the environment is changed,
// and a note is left for the parent.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/base/scratch.h"
#include "preload/calls/path_call.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/exec/exec_environment.h"
#include "preload/exec/exec_space.h"
#include "preload/exec/exec_target.h"
#include "preload/exec/vfork_exec.h"
#include "preload/record/channel.h"
#include "preload/record/process_record.h"

struct execution {
  struct path_call path;
  struct exec_target target;
  struct environment_plan environment;
  char *name;   // scratch page with a copy of the path, or null
  bool search;  // the path is searched in PATH
};

// A copy of the path in our own memory: it may point anywhere. False: it cannot be read, or is too long for a file
// name.
static bool copy_name(struct execution *e, const char *path) {
  size_t bytes = 0;
  if (!(e->name = scratch_take())) return true;
  bool readable = copy_string_from_program(e->name, path, kScratchBytes, &bytes);
  if (!readable || bytes == kScratchBytes) {
    scratch_give(e->name);
    e->name = NULL;
    if (may_ask_for_memory()) e->target.error = readable ? ENAMETOOLONG : EFAULT;
    return false;
  }
  e->name[bytes] = 0;
  return true;
}

// Under a filter of the program's own, or in a process that is not attached, the executed file is not examined.
static void look_at_target(struct execution *e) {
  bool confined = !recording_system_calls_allowed();
  e->target = (struct exec_target){.verdict = confined ? MLRUN_EXEC_UNREACHABLE : MLRUN_EXEC_UNKNOWN};
  if (!process.arena || !copy_name(e, e->path.path) || !e->name) return;
  e->target = exec_target_of(e->path.call.fd, e->name, e->search);
  e->path.copy = e->target.found ? e->target.found : e->name;
}

static void give_name_back(struct execution *e) {
  scratch_give(e->target.found);
  scratch_give(e->name);
  e->target.found = e->name = e->path.copy = NULL;
}

static void begin_execution(struct execution *e, enum call_kind kind, int dirfd, const char *path, bool search,
                            char *const *given) {
  e->path = (struct path_call){.call = {.kind = (uint16_t)kind, .fd = dirfd, .form = kCallOnPath}, .path = path};
  e->name = NULL;
  e->search = search;
  e->path.call.start = stamp();
  e->path.watch = memory_watch();
  look_at_target(e);
  if (search && !e->target.found) e->path.call.flags |= MLRUN_CALL_SEARCHED;
  e->environment = plan_environment(given, &e->target);
  plan_environment_space(&e->environment);
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

// The scratch pages are given back before the call, because a vfork child that executes a program does not return.
static void announce_execution(struct execution *e) {
  if (in_vfork_child() && !e->target.error && e->path.copy)
    note_vfork_execution(e->path.call.fd, e->path.copy, e->target.verdict);
  if (e->path.call.start && !will_fail(e)) {
    process_end_write(0);
    put_path_call(&e->path, e->path.call.start, 0, 0, MLRUN_CALL_PASSED_FD);
  }
  give_name_back(e);
}

static char *const *environment_of(const struct execution *e) { return make_environment(&e->environment); }

// error: 0 or an errno value.
static void finish_execution(struct execution *e, int64_t result, int error) {
  if (e->path.call.start) put_path_call(&e->path, now_ticks(), error ? -error : result, error, MLRUN_CALL_PASSED_FD);
  exec_space_give(e->environment.space);
  give_name_back(e);
}

static int execution_failed(struct execution *e, int result) {
  int error = errno;
  if (e->path.call.start) look_at_target(e);
  finish_execution(e, result, error);
  if (in_vfork_child()) forget_vfork_execution();
  return result;
}

static int execute(const char *path, char *const *arguments, char *const *given) {
  REAL(int, execve, const char *, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, AT_FDCWD, path, false, given);
  announce_execution(&e);
  return execution_failed(&e, real(path, arguments, environment_of(&e)));
}

static int execute_from_path(const char *name, char *const *arguments, char *const *given) {
  REAL(int, execvpe, const char *, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, AT_FDCWD, name, true, given);
  announce_execution(&e);
  return execution_failed(&e, real(name, arguments, environment_of(&e)));
}

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  return execute(path, arguments, environment);
}
EXPORT int execv(const char *path, char *const arguments[]) { return execute(path, arguments, __environ); }
EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[]) {
  return execute_from_path(name, arguments, environment);
}
EXPORT int execvp(const char *name, char *const arguments[]) { return execute_from_path(name, arguments, __environ); }

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[]) {
  REAL(int, fexecve, int, char *const *, char *const *);
  struct execution e;
  begin_execution(&e, KIND_execve, fd, "", false, environment);
  announce_execution(&e);
  return execution_failed(&e, real(fd, arguments, environment_of(&e)));
}

EXPORT int execveat(int dirfd, const char *path, char *const arguments[], char *const environment[], int flags) {
  REAL(int, execveat, int, const char *, char *const *, char *const *, int);
  if (!real) return (int)missing_function();
  struct execution e;
  begin_execution(&e, KIND_execve, dirfd, path, false, environment);
  announce_execution(&e);
  return execution_failed(&e, real(dirfd, path, arguments, environment_of(&e), flags));
}

// Arguments after `first` up to the null, `first` included.
static size_t count_arguments(const char *first, va_list *rest) {
  size_t count = 0;
  for (const char *argument = first; argument; argument = va_arg(*rest, const char *)) count++;
  return count;
}

// Copies the arguments and their null; `rest` is then behind it.
static void copy_arguments(char **into, const char *first, va_list *rest) {
  *into++ = (char *)first;
  while (first) *into++ = (char *)(first = va_arg(*rest, const char *));
}

// libc itself copies the list to the stack. So does this function if no exec_space is available.
static int execute_list(const char *path, bool search, const char *first, va_list *rest, bool environment_follows) {
  va_list again;
  va_copy(again, *rest);
  size_t count = count_arguments(first, &again) + 1;
  va_end(again);
  char **taken = process.arena ? exec_space_take(count * sizeof(char *)) : NULL;
  char *on_stack[taken ? 1 : count];
  char **arguments = taken ? taken : on_stack;
  copy_arguments(arguments, first, rest);
  char *const *environment = environment_follows ? va_arg(*rest, char *const *) : __environ;
  int result = search ? execute_from_path(path, arguments, environment) : execute(path, arguments, environment);
  exec_space_give(taken);
  return result;
}

EXPORT int execl(const char *path, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  int result = execute_list(path, false, first, &rest, false);
  va_end(rest);
  return result;
}

EXPORT int execlp(const char *name, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  int result = execute_list(name, true, first, &rest, false);
  va_end(rest);
  return result;
}

EXPORT int execle(const char *path, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  int result = execute_list(path, false, first, &rest, true);
  va_end(rest);
  return result;
}

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);

// target.error is ignored: file actions may change the directory first, so a path that cannot be found from the present
// one may exist.
static int spawn(spawn_function *real, bool search, pid_t *child, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const arguments[], char *const given[]) {
  pid_t unwanted;
  if (!child) child = &unwanted;
  struct execution e;
  begin_execution(&e, KIND_posix_spawn, AT_FDCWD, path, search, given);
  int error = real(child, path, actions, attributes, arguments, environment_of(&e));
  finish_execution(&e, error ? -1 : *child, error);
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

// Before glibc 2.15 files of a format unknown to the kernel were executed by the shell.
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
