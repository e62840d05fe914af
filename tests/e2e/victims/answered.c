// SPDX-License-Identifier: Apache-2.0
// answered FILE: a filter of its own says success to chmod and pipe2, ENOENT to access, and kills for process_vm_readv and getpid. Then
// calls with names and with pointers that lead nowhere.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWER(call, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, what)

static char *volatile nowhere = (char *)16;

static void say(long result) { printf("%ld %d\n", result, result ? errno : 0); }

int main(int count, char **arguments) {
  struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                ANSWER(SYS_chmod, SECCOMP_RET_ERRNO),
                                ANSWER(SYS_pipe2, SECCOMP_RET_ERRNO),
                                ANSWER(SYS_access, SECCOMP_RET_ERRNO | ENOENT),
                                ANSWER(SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS),
                                ANSWER(SYS_getpid, SECCOMP_RET_KILL_PROCESS),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
  struct stat status;
  if (count != 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 2;
  say(chmod(arguments[1], 0600));
  say(chmod(nowhere, 0600));
  say(pipe2((int *)(void *)nowhere, 0));
  say(access(arguments[1], R_OK));
  say(access(nowhere, R_OK));
  say(stat(arguments[1], &status));
  say(stat(nowhere, &status));
  say(execve(nowhere, arguments, environ));
  say(execve("/", arguments, (char **)(void *)nowhere));
  return 0;
}
