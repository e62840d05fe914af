// SPDX-License-Identifier: Apache-2.0
// Which operations a program submits to io_uring through libc's syscall(), as libuv does. So a ring that carries only
// epoll_ctl does not count as unseen I/O. Submission queue entries are read right before io_uring_enter, when the kernel
// is about to read them. If entries cannot be read, or are submitted otherwise (by the ring's kernel thread), the record
// MLRUN_RING_UNKNOWN reports it. Submissions by a syscall instruction of the program's own are not seen.
//
//   io_uring_setup          the ring's descriptor and the offsets of its fields: MLRUN_RING_MADE
//   mmap of its two parts   the addresses of the queue's fields and of its entries
//   io_uring_enter          the entries from head on, to_submit of them: MLRUN_RING_USED on the first of each operation
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// libc's syscall().
typedef long (*syscall_function)(long, ...);

// Whether this process has made a ring through libc.
extern bool rings_are_there;

long traced_ring_setup(syscall_function real, long entries, long parameters);

// Before io_uring_enter.
void note_ring_entered(long fd, long to_submit, long flags);

// libc's mmap has mapped what may be part of a ring. Requires: rings_are_there.
void note_ring_mapped(int fd, uint64_t offset, uint64_t address);

#pragma GCC visibility pop
