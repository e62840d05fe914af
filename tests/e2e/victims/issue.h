// SPDX-License-Identifier: Apache-2.0
// What a victim of known counts does: a numbered pread, a malloc and a free at a time. Each is counted, once it has returned,
// in the thread's own slot of a file that outlives the program.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kSlots = 16384, kIssuedSize = 777 };

struct slot {
  volatile long pid, tid, preads, mallocs, frees, lseeks;
};

static struct slot *slots;
static int issue_fd;

static void issue_open(const char *data, const char *progress) {
  int fd = open(progress, O_RDWR);
  issue_fd = open(data, O_RDONLY);
  slots = mmap(NULL, kSlots * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static struct slot *take_slot(int number) {
  struct slot *mine = &slots[number];
  mine->pid = syscall(SYS_getpid);
  mine->tid = syscall(SYS_gettid);
  return mine;
}

static void issue(struct slot *mine, long rounds) {
  for (long i = 0; i < rounds; i++) {
    char byte;
    pread(issue_fd, &byte, 1, i);
    mine->preads++;
    void *volatile block = malloc(kIssuedSize);
    mine->mallocs++;
    free(block);
    mine->frees++;
  }
}
