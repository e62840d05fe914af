// SPDX-License-Identifier: Apache-2.0
// How a process and its threads start to record: attach() maps the arena once per image, register_thread() gives a
// thread its channel at its first event, after_fork() resets a child at its first event.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The kernel wipes these pages in a forked child (MADV_WIPEONFORK), so that the child detects the fork. After this struct
// come the ids of strings that the process has defined (strings.c), then the slots of posts (posts.h).
struct wiped_pages {
  uint32_t generation;      // MLRUN_RUN; above: records no longer (give_up_clock); 0: a child that has not recorded yet
  uint32_t process_number;  // 0: not taken yet
  uint32_t announced;       // 1: the process record is written, or being written
  uint32_t spare[13];
  uint64_t string_ids[];
};

// Facts about the process image. In a forked child they are the parent's until after_fork().
struct process_facts {
  char *arena;  // null: not attached
  struct wiped_pages *wiped;
  uint32_t wiped_bytes;
  uint32_t segment_count;  // segments of the arena that are mapped here
  uint32_t *owner;         // the arena's owner words
  uint32_t pid, parent_pid;
  uint32_t image;  // number of this exec, kept by forked children
  bool forked;
  uint64_t pid_namespace;  // inode, read at load
  const char *arena_path;  // as in the session's variable
  const char *session;     // MLRUN_SESSION=..., our own copy; null: not traced
};
extern struct process_facts process;

// Maps the arena that `environment` names. No effect if that was tried before, or if there is no environment yet: hooks
// may be called before libc has set it.
void attach(char **environment);

// Resets the thread's state and the process's facts in a forked child.
void after_fork(void);

// Whether an event of this thread may be recorded. First attaches, or resets a forked child, if needed.
bool may_record(void);

// Gives the calling thread a channel, so that it can record or count an event of that kind (enum mlrun_kind). False:
// none is free; the event is counted as lost.
bool register_thread(uint32_t kind);

// Whether this process records at all. While it does not, the clock is not read.
bool recording_is_on(void);

// The program makes a call by which this process, and the children it forks from now on, may lose the clock: they record
// nothing, unless the call fails.
void give_up_clock(void);
void get_clock_back(void);

#pragma GCC visibility pop
