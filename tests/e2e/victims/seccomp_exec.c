// SPDX-License-Identifier: Apache-2.0
// seccomp_exec seen|unseen PROGRAM...: executes it under a filter that kills for any call but those which a dynamic program makes
// to load, to pread and to end; both calls by libc's functions or by the instruction.
// seccomp_exec shell COMMAND: by system(), under a filter that allows everything.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD_NUMBER   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(what)  BPF_STMT(BPF_RET | BPF_K, what)

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

static long by_instruction(long number, long a, long b, long c) {
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return number;
}

int main(int count, char **arguments) {
  if (count < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
  struct sock_fprog program = {sizeof strict / sizeof *strict, strict}, all = {1, harmless};
  if (arguments[1][1] == 'h') return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) ? 3 : system(arguments[2]) >> 8;
  bool seen = arguments[1][0] == 's';
  long failed = seen ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                     : by_instruction(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program);
  if (failed) return 3;
  if (!seen) by_instruction(SYS_execve, (long)arguments[2], (long)(arguments + 2), (long)environ);
  execv(arguments[2], arguments + 2);
  return 4;
}
