// SPDX-License-Identifier: Apache-2.0
// tries_filters TRIES FILE PROGRAM...: in each of 20 children a thread tries TRIES filters that do not exist, while the main thread installs one that
// kills for calls that this program does not make, and then opens and reads FILE. Prints how many of them did not end well. Then two threads try such
// filters at once, and PROGRAM is executed.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define KILL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS)

static long tries;
static volatile int has_begun;

static void *try_filters(void *unused) {
  for (long i = 0; i < tries; i++) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
    has_begun = 1;
  }
  return unused;
}

static int install_beside(const char *file) {
  struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), KILL(SYS_fstat),
                                KILL(SYS_getpid), KILL(SYS_process_vm_readv), RETURN(SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  pthread_t other;
  char byte;
  if (pthread_create(&other, NULL, try_filters, NULL)) return 2;
  while (!has_begun) continue;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 3;
  pthread_join(other, NULL);
  return read(open(file, O_RDONLY), &byte, 1) != 1;
}

int main(int count, char **arguments) {
  int bad = 0, status;
  pthread_t others[2];
  if (count < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
  tries = atol(arguments[1]);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (!child) _exit(install_beside(arguments[2]));
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  printf("children that did not end well: %d\n", bad);
  fflush(stdout);
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, try_filters, NULL);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  execv(arguments[3], arguments + 3);
  return 4;
}
