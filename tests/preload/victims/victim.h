// SPDX-License-Identifier: Apache-2.0
// Shared by most victims: reads from a file that always has data, with the number of the call as the offset.
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int open_zero(void) { return open("/dev/zero", O_RDONLY); }

static inline void read_often(int fd, long calls) {
  char byte;
  for (long i = 0; i < calls; i++) pread(fd, &byte, 1, i);
}
