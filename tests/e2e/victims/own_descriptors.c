// SPDX-License-Identifier: Apache-2.0
// own_descriptors alone|unshare|unshare_by_number|close_range|FOLDER unshare_directory: a thread takes descriptors of its own (alone: there is no
// other thread), then it and main open files under the same number and read them. With a folder: the thread moves there alone,
// by a working directory of its own, and both open "data".
// own_descriptors setns: main leaves its mount namespace and comes back, which ends at that one's root, and opens "data" and
// "proc/version". Exit status 77: not permitted.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t both;
static const char *way, *file;
static int opened[2];

static void read_from(int which, const char *name) {
  char bytes[16];
  opened[which] = open(name, O_RDONLY | O_CREAT, 0600);
  if (strcmp(way, "alone")) pthread_barrier_wait(&both);
  if (read(opened[which], bytes, sizeof bytes) < 0) perror(name);
}

static bool separates(void) {
  if (file) return unshare(CLONE_FS) == 0 && chdir(file) == 0;
  if (!strcmp(way, "close_range")) return syscall(SYS_close_range, 900, 901, CLOSE_RANGE_UNSHARE) == 0;
  if (!strcmp(way, "unshare_by_number")) return syscall(SYS_unshare, CLONE_FILES) == 0;
  return unshare(CLONE_FILES) == 0;
}

static void *other(void *unused) {
  if (!separates()) perror(way);
  pthread_barrier_wait(&both);
  read_from(1, file ? "data" : "theirs");
  return unused;
}

static int returns_to_its_namespace(void) {
  int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (own < 0 || open("data", O_RDONLY | O_CREAT, 0600) < 0) return 3;
  if (unshare(CLONE_NEWNS) || setns(own, CLONE_NEWNS)) return 77;
  return open("proc/version", O_RDONLY) < 0;
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  way = arguments[1];
  if (!strcmp(way, "setns")) return returns_to_its_namespace();
  file = count > 2 ? arguments[1] : NULL;
  if (!strcmp(way, "alone")) return !separates() || (read_from(0, "mine"), 0);
  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL)) return 3;
  pthread_barrier_wait(&both);
  read_from(0, file ? "data" : "mine");
  pthread_join(thread, NULL);
  return file ? 0 : opened[0] != opened[1];
}
