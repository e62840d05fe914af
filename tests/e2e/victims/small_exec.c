// SPDX-License-Identifier: Apache-2.0
// small_exec HOW ENTRIES: a thread of 16 KiB of stack executes /bin/sh with an environment of its own of so many entries: by spawn,
// vfork, or fork; or with so many arguments: by execl, as a list of 200. Prints the status and, by the shell, how many it has got.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **environment, *how;
static char *arguments[] = {"sh", "-c", "set | grep -c '^OWN[0-9]'; exit 7", NULL};

#define TEN(x)     x, x, x, x, x, x, x, x, x, x
#define HUNDRED(x) TEN(TEN(x))

static void execute(void) {
  if (strcmp(how, "execl"))
    execve("/bin/sh", arguments, environment);
  else
    execl("/bin/sh", "sh", "-c", "echo $#; exit 7", "sh", HUNDRED("argument"), HUNDRED("argument"), (char *)NULL);
  _exit(9);
}

static void *run(void *unused) {
  pid_t child = 0;
  int status = -1;
  if (!strcmp(how, "spawn"))
    posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment);
  else if (!(child = strcmp(how, "vfork") ? fork() : vfork()))
    execute();
  waitpid(child, &status, 0);
  printf("status %d\n", status);
  return unused;
}

int main(int count, char **given) {
  if (count != 3) return 2;
  how = given[1];
  int entries = atoi(given[2]);
  environment = calloc((size_t)entries + 2, sizeof *environment);
  for (int i = 0; i < entries; i++)
    if (asprintf(&environment[i], "OWN%d=%d", i, i) < 0) return 3;
  environment[entries] = "PATH=/usr/bin:/bin";
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  for (int times = 0; times < 3; times++)
    if (pthread_create(&thread, &attributes, run, NULL) || pthread_join(thread, NULL)) return 4;
  return 0;
}
