// SPDX-License-Identifier: Apache-2.0
// delayed FOLDER DELAY_NS: makes calls on names and mappings that its own seccomp filter passes to a second thread,
// which delays each by that time. Prints for each call, in ns of CLOCK_MONOTONIC: when the program called, when the
// kernel held it, when it was released, when it returned.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "family.h"

enum { kCalls = 32 };
static struct {
  const char *name;
  long called, held, released, back;
} calls[kCalls];
static volatile int call;
static long delay_ns;
static int reported[2];

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *hold_up(void *unused) {
  int listener;
  struct seccomp_notif asked;
  struct timespec delay = {0, delay_ns};
  if (read(reported[0], &listener, sizeof listener) != sizeof listener) return unused;
  while (memset(&asked, 0, sizeof asked), ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) {
    struct seccomp_notif_resp go = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    calls[call].held = now();
    clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
    calls[call].released = now();
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go);
  }
  return unused;
}

#define HOLD(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

static bool filter(void) {
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                HOLD(SYS_mkdir),
                                HOLD(SYS_rmdir),
                                HOLD(SYS_rename),
                                HOLD(SYS_unlink),
                                HOLD(SYS_close),
                                HOLD(SYS_openat),
                                HOLD(SYS_mmap),
                                HOLD(SYS_munmap),
                                HOLD(SYS_mremap),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return listener >= 0 && write(reported[1], &listener, sizeof listener) == sizeof listener;
}

#define TIMED(function, expression) \
  (calls[call].name = #function, calls[call].called = now(), (expression), calls[call].back = now(), ++call)

int main(int count, char **arguments) {
  pthread_t thread;
  if (count != 3 || chdir(arguments[1]) || pipe(reported)) return 2;
  delay_ns = atol(arguments[2]);
  pthread_create(&thread, NULL, hold_up, NULL);
  if (!filter()) return 77;
  char *at = NULL;
  int fd = -1;
  TIMED(mkdir, mkdir("made", 0700)), TIMED(mkdir, mkdir("made", 0700));
  TIMED(openat, fd = openat(AT_FDCWD, "made/file", O_CREAT | O_RDWR, 0600));
  TIMED(mmap, at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0)), TIMED(close, close(fd));
  TIMED(mremap, at = mremap(at, 8192, 4096, 0)), TIMED(munmap, munmap(at, 4096));
  TIMED(rename, rename("made/file", "made/other")), TIMED(unlink, unlink("made/file")),
      TIMED(unlink, unlink("made/other"));
  TIMED(rmdir, rmdir("made"));
  for (int i = 0, all = call; i < all; i++)
    printf("%s %ld %ld %ld %ld\n", calls[i].name, calls[i].called, calls[i].held, calls[i].released, calls[i].back);
  fflush(stdout);
  _exit(0);
}
