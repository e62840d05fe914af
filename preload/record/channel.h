// SPDX-License-Identifier: Apache-2.0
// How a process and its threads come to record: attach() maps the arena once per image, register_thread() gives a
// thread its channel at its first event, after_fork() starts a child afresh at its first event.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// What the kernel wipes in a forked child (MADV_WIPEONFORK), so that the child notices that it is one. The ids of
// strings that the process has defined follow (strings.c).
struct wiped_pages {
  uint32_t generation;      // MLRUN_RUN; MLRUN_STOP: records no more; 0: a child that has not recorded yet
  uint32_t process_number;  // 0: not taken yet
  uint32_t announced;       // 1: the process record is written, or being written
  uint32_t spare[13];
  uint64_t string_ids[];
};

// Facts about the process image. In a forked child those of the parent until after_fork().
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
  const char *arena_path;  // as the session names it
  const char *session;     // MLRUN_SESSION=..., a copy of our own; null: not traced
};
extern struct process_facts process;

// Maps the arena that `environment` names. Does nothing when that has been tried, and when there is no environment yet:
// hooks may be called before libc knows it.
void attach(char **environment);

// Resets the thread's state and the process's facts in a forked child.
void after_fork(void);

// Whether an event of this thread may be recorded, after attaching or starting a forked child afresh where that is due.
bool may_record(void);

// Gives the calling thread a channel, so that it can record or count an event of that kind (enum mlrun_kind). False: none
// could be had; the event is counted as lost.
bool register_thread(uint32_t kind);

// Whether this process, and the children it forks from now on, record at all. The clock is not read while they do not.
bool recording_is_on(void);
void set_recording(bool on);

#pragma GCC visibility pop
