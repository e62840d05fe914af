// SPDX-License-Identifier: Apache-2.0
// seccomp_exec seen|unseen PROGRAM...: executes it under a filter that kills for any call but those which a dynamic program makes
// to load, to pread and to end; both calls by libc's functions or by the instruction.
// seccomp_exec shell COMMAND: by system(), under a filter that allows everything.
// seccomp_exec children PROGRAM...: four times in a vfork child, and maps 8 MiB each time. The first three children try a filter that does not exist,
// and install two: one that kills for questions about the process, then the one from above. Prints how the children ended.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD_NUMBER   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(what)  BPF_STMT(BPF_RET | BPF_K, what)
#define KILL(number)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS)

static struct sock_filter harmless[] = {RETURN(SECCOMP_RET_ALLOW)};
static struct sock_filter strict[] = {LOAD_NUMBER,
                                      ALLOW(SYS_execve),
                                      ALLOW(SYS_brk),
                                      ALLOW(SYS_mmap),
                                      ALLOW(SYS_munmap),
                                      ALLOW(SYS_mprotect),
                                      ALLOW(SYS_access),
                                      ALLOW(SYS_openat),
                                      ALLOW(SYS_newfstatat),
                                      ALLOW(SYS_fstat),
                                      ALLOW(SYS_read),
                                      ALLOW(SYS_pread64),
                                      ALLOW(SYS_close),
                                      ALLOW(SYS_arch_prctl),
                                      ALLOW(SYS_set_tid_address),
                                      ALLOW(SYS_rseq),
                                      ALLOW(SYS_set_robust_list),
                                      ALLOW(SYS_prlimit64),
                                      ALLOW(SYS_getrandom),
                                      ALLOW(SYS_exit_group),
                                      RETURN(SECCOMP_RET_KILL_PROCESS)};

static struct sock_filter no_questions[] = {LOAD_NUMBER,      KILL(SYS_getpid),
                                            KILL(SYS_gettid), KILL(SYS_get_robust_list),
                                            KILL(SYS_getcwd), RETURN(SECCOMP_RET_ALLOW)};

static int install(struct sock_filter *steps, size_t count) {
  struct sock_fprog program = {(unsigned short)count, steps};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static pid_t start(bool is_confined, char **arguments) {
  pid_t child = vfork();
  if (child) return child;
  if (is_confined && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL)) _exit(3);
  if (is_confined && install(no_questions, sizeof no_questions / sizeof *no_questions)) _exit(4);
  if (is_confined && install(strict, sizeof strict / sizeof *strict)) _exit(5);
  execv(arguments[0], arguments);
  _exit(6);
}

static int children(char **arguments) {
  for (int i = 0; i < 4; i++) {
    int status = -1;
    waitpid(start(i < 3, arguments), &status, 0);
    bool is_mapped = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    printf("status %d, mapped %d\n", status, is_mapped);
  }
  return 0;
}

static long by_instruction(long number, long a, long b, long c) {
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return number;
}

int main(int count, char **arguments) {
  if (count < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
  struct sock_fprog program = {sizeof strict / sizeof *strict, strict}, all = {1, harmless};
  if (!strcmp(arguments[1], "children")) return children(arguments + 2);
  if (arguments[1][1] == 'h') return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) ? 3 : system(arguments[2]) >> 8;
  bool seen = arguments[1][0] == 's';
  long failed = seen ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                     : by_instruction(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program);
  if (failed) return 3;
  if (!seen) by_instruction(SYS_execve, (long)arguments[2], (long)(arguments + 2), (long)environ);
  execv(arguments[2], arguments + 2);
  return 4;
}
