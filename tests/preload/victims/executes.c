// SPDX-License-Identifier: Apache-2.0
// executes HOW ENVIRONMENT PROGRAM [ARGUMENT]...: executes PROGRAM by the function that HOW names. ENVIRONMENT: kept,
// emptied but for X=1, or many: 5000 others.
#include "victim.h"

static int spawn(const char *how, char **arguments, char **environment) {
  pid_t child;
  int status;
  int error = !strcmp(how, "posix_spawnp") ? posix_spawnp(&child, arguments[0], 0, 0, arguments, environment)
                                           : posix_spawn(&child, arguments[0], 0, 0, arguments, environment);
  return error || waitpid(child, &status, 0) < 0 ? 126 : WEXITSTATUS(status);
}

enum { kMany = 5000 };

static char **environment(const char *which) {
  static char *few[] = {"X=1", 0}, *many[kMany + 1];
  for (int i = 0; i < kMany; i++) many[i] = "X=1";
  return !strcmp(which, "kept") ? environ : !strcmp(which, "many") ? many : few;
}

int main(int argc, char **argv) {
  char **given = environment(argv[2]), **a = argv + 3, *how = argv[1];
  environ = given;
  if (!strcmp(how, "vfork") && vfork()) return wait(&argc) < 0 ? 126 : WEXITSTATUS(argc);
  if (!strcmp(how, "vfork") || !strcmp(how, "execve")) execve(a[0], a, given);
  if (!strcmp(how, "execv")) execv(a[0], a);
  if (!strcmp(how, "execvp")) execvp(a[0], a);
  if (!strcmp(how, "execvpe")) execvpe(a[0], a, given);
  if (!strcmp(how, "execl")) execl(a[0], a[0], (char *)0);
  if (!strcmp(how, "execlp")) execlp(a[0], a[0], (char *)0);
  if (!strcmp(how, "execle")) execle(a[0], a[0], (char *)0, given);
  if (!strcmp(how, "fexecve")) fexecve(open(a[0], O_RDONLY | O_CLOEXEC), a, given);
  if (!strcmp(how, "execveat")) execveat(AT_FDCWD, a[0], a, given, 0);
  _exit(!strncmp(how, "posix_spawn", 11) ? spawn(how, a, given) : errno);
}
