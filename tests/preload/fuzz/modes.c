// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/fuzz/modes.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/preload/fuzz/memory.h"

static void (*work_of_handler)(void *);
static void *argument_of_handler;

static void handle(int number) {
  (void)number;
  work_of_handler(argument_of_handler);
}

struct threaded {
  void (*work)(void *);
  void *argument;
};

static void *run_thread(void *given) {
  struct threaded *t = given;
  stack_t own = {.ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                 .ss_size = 1 << 16};
  sigaltstack(&own, NULL);
  t->work(t->argument);
  return NULL;
}

static void run_on_small_stack(void (*work)(void *), void *argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  struct threaded t = {work, argument};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  if (pthread_create(&thread, &attributes, run_thread, &t)) abort();
  pthread_join(thread, NULL);
}

// The handler is left by a jump where libc dies of a bad pointer: on a stack of its own, which no other handler uses.
static void run_on_signal_stack(void (*work)(void *), void *argument) {
  size_t bytes = (getauxval(AT_MINSIGSTKSZ) + 8192 + 4095) & ~4095ul;
  char *low = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(low, 4096, PROT_NONE);
  stack_t small = {.ss_sp = low + 4096, .ss_size = bytes};
  sigaltstack(&small, NULL);
  work_of_handler = work;
  argument_of_handler = argument;
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}

// SECCOMP_RET_TRAP: the handler answers.
static long trap_answer;
static void answer(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = trap_answer;
}

static void install_filter(struct dice *d) {
  static const int targets[] = {SYS_stat,     SYS_newfstatat, SYS_open,    SYS_openat,  SYS_access,   SYS_readlinkat,
                                SYS_rename,   SYS_mkdir,      SYS_chdir,   SYS_chmod,   SYS_chown,    SYS_truncate,
                                SYS_setxattr, SYS_getxattr,   SYS_execve,  SYS_symlink, SYS_unlink,   SYS_readv,
                                SYS_writev,   SYS_sendmsg,    SYS_recvmsg, SYS_pipe2,   SYS_sendfile, SYS_setrlimit,
                                SYS_prctl,    SYS_lstat,      SYS_statx};
  enum { kRules = 8 };
  struct sock_filter steps[2 + 2 * kRules + 8] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned count = 1;
  trap_answer = ANY_OF(d, 0, -EPERM, -ENOENT, 7);
  for (int i = 0; i < kRules; i++) {
    int target = targets[below(d, sizeof targets / sizeof *targets)];
    long result = ANY_OF(d, SECCOMP_RET_ERRNO, SECCOMP_RET_ERRNO | ENOENT, SECCOMP_RET_ERRNO | EPERM,
                         SECCOMP_RET_ERRNO | EFAULT, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_TRAP);
    // With success, libc would use an uninitialised struct stat.
    if (target == SYS_newfstatat) result = SECCOMP_RET_ERRNO | EPERM;
    steps[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)target, 0, 1);
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (unsigned)result);
  }
  static const int never[] = {SYS_process_vm_readv, SYS_getpid};
  for (int i = 0; i < 2; i++) {
    steps[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)never[i], 0, 1);
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)count, steps};
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Memory that comes and goes, by another thread and by a handler: only that nothing dies of it can be compared.
static volatile int stop;
static void *toggle(void *unused) {
  for (int i = 0; !stop; i++) {
    mprotect(memory_good(), kGoodBytes, PROT_NONE);
    mprotect(memory_good(), kGoodBytes, PROT_READ | PROT_WRITE);
  }
  return unused;
}

static void toggle_once(int number) {
  static int forbidden;
  (void)number;
  forbidden = !forbidden;
  mprotect(memory_good(), kGoodBytes, forbidden ? PROT_NONE : PROT_READ | PROT_WRITE);
}

static void run_unmapped(struct dice *d, void (*work)(void *), void *argument) {
  pthread_t thread;
  bool by_handler = below(d, 2);
  stop = 0;
  if (by_handler) {
    signal(SIGALRM, toggle_once);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
  } else {
    pthread_create(&thread, NULL, toggle, NULL);
  }
  work(argument);
  stop = 1;
  if (by_handler)
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  else
    pthread_join(thread, NULL);
  memory_make();
}

void run_in(enum mode mode, struct dice *d, void (*work)(void *), void *argument) {
  switch (mode) {
    case kSmallStack: run_on_small_stack(work, argument); return;
    case kSignalStack: run_on_signal_stack(work, argument); return;
    case kUnmapped: run_unmapped(d, work, argument); return;
    case kFiltered: install_filter(d); break;
    case kPlain:
    case kModes: break;
  }
  work(argument);
}
