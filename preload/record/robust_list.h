// SPDX-License-Identifier: Apache-2.0
// The thread's robust list shows the collector that a thread has ended. The kernel walks it when a thread ends, by
// return, _exit, SIGKILL or exec, and sets FUTEX_OWNER_DIED in each lock it finds there, in any pid namespace.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mlrun_channel;

#pragma GCC visibility push(hidden)

// Finds the list's offset in the thread control block, once per process. Makes system calls; later calls do not.
// False: the ends of threads cannot be detected in this process.
bool robust_list_find(void);

// Links the channel into the calling thread's list as a lock that the thread `tid` holds. Signal handlers and the
// program's own robust mutexes may use the list at the same time.
void robust_list_hold(struct mlrun_channel *channel, uint32_t tid);

// Tid of the calling thread.
uint32_t thread_number(void);

// The same in a forked child, whose thread had the tid `tid_in_parent` in the parent (0: unknown). After a raw fork or
// clone libc knows neither the tid nor that the kernel has forgotten the list: it is registered again.
uint32_t thread_number_after_fork(uint32_t tid_in_parent, bool system_calls_allowed);

// Tid of another thread of this process, by its pthread_t; 0: unknown.
uint32_t thread_number_of(uintptr_t pthread);

// The same for a thread that may have ended, whose memory may be unmapped or reused. 0 also if it has ended.
uint32_t thread_number_if_there(uintptr_t pthread);

#pragma GCC visibility pop
