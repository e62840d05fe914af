// SPDX-License-Identifier: Apache-2.0
// Memory from the kernel. After load these functions make only system calls that libc's allocator makes too, so a seccomp filter that lets the
// program allocate lets them pass. New memory gets its policy without mbind, from the mapping that it extends (range.h).
//
// Memory that blocks have used is released by libc's own munmap and madvise, as by libc's allocator: libraries that keep memory registered with
// a device (UCX, Open MPI, libfabric) patch the code of these functions to see it go, and would else use a registration of pages that are gone.
// What they run there must not allocate placed blocks: a heap's lock may be held, as that of libc's arena. mremap stays a system call: UCX's
// patch passes on four of its five arguments.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/raw_syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#pragma GCC visibility push(hidden)

// Maps zeroed memory at `at`, or anywhere if that is null. Null: not possible.
void *pages_map(void *at, size_t bytes);

// Reserves the addresses (PROT_NONE), without memory. Returns 0, or an error of errno.h: EEXIST, if something is mapped there.
int pages_hold(void *at, size_t bytes);

void pages_unmap(void *at, size_t bytes);
// The same in a forked child and past libc's function: what watches that may wait for a lock that another thread held at the fork.
void pages_unmap_in_child(void *at, size_t bytes);

// libc's madvise. False: the kernel refuses.
bool pages_release(void *at, size_t bytes, int advice);

// Gives the pages back to the kernel; the mapping stays. False: the kernel refuses, as for locked memory before Linux 5.18.
bool pages_give_back(void *at, size_t bytes);

// Grows or shrinks, in place, the mapping whose last `bytes` bytes begin at `at`, so that `wanted` bytes begin there. False: it is unchanged.
bool pages_resize(void *at, size_t bytes, size_t wanted);

// Whether one mapping has all these bytes.
bool pages_are_one_mapping(const void *at, size_t bytes);

// Moves the pages of one mapping with their policy to `to`, in place of what is mapped there. `at` stays mapped, with zeros. False: `at` is
// unchanged (a limit, or Linux is older than 5.7); what was mapped at `to` may be unmapped. Pages of several mappings must not be passed: Linux 6.17
// moves those one by one, and if it refuses one of them, the earlier ones have moved.
bool pages_move(void *at, size_t bytes, void *to);

// Moves the pages of one mapping from `at`, which is unmapped, back to `to`, where pages_move() took them. No limit of memory or addresses can refuse
// that: it needs none. False: both are unchanged.
bool pages_move_back(void *at, size_t bytes, void *to);

// Futexes that only this process uses.
void futex_wait(uint32_t *word, uint32_t while_equal);
void futex_wait_for(uint32_t *word, uint32_t while_equal, long ns);
void futex_wake_one(uint32_t *word);

#pragma GCC visibility pop
