// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The paths by which files are opened. Loaded only in runs without libmlrun_preload.so in the processes. The first walk
// up the path (path_walk.h) yields a hash of its names. If the inode's last record has another hash, a second walk
// collects the names. So a path is recorded again when a parent folder is renamed, a mount is moved or another hard
// link is opened, without tracking these changes. A rename in the middle of a walk yields a path that never existed;
// the next open records the right one.
#pragma once

#include "kprobes/bpf/dirty.h"
#include "kprobes/bpf/file_op.h"
#include "kprobes/bpf/loop.h"
#include "kprobes/bpf/path_walk.h"

enum {
  kPathSteps = MLRUN_PATH_NAMES_MAX,  // names and mounts on the way up
  kPathStepsBefore = 64,              // on kernels without bpf_loop
  kBackingFile = 0x3000000,           // FMODE_BACKING; up to 6.13 the upper bit
};

// A buffer per processor: the program never runs twice at once on one.
struct open_walk {
  struct path_walk walk;
  struct mlrun_file_path record;
  char text[MLRUN_PATH_NAMES_MAX + kNameMax + 1];  // directly after the record
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct open_walk);
} path_walks SEC(".maps");

struct emitted_path {
  __u64 names;
  __u32 generation, spare;  // of the inode, whose number may be reused
};
// The least recently used entries are evicted; their paths are recorded again.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 65536);
  __type(key, struct inode_key);
  __type(value, struct emitted_path);
} emitted_paths SEC(".maps");

static __always_inline struct open_walk *own_walk(void) {
  __u32 first = 0;
  return bpf_map_lookup_elem(&path_walks, &first);
}

static long walk_up(__u32 step, void *unused) {
  struct open_walk *open = own_walk();
  return open ? step_up(&open->walk, open->text) : 1;
}

static __always_inline void walk_path(struct path_walk *walk, const struct path *path, bool keeps_names) {
  begin_walk(walk, path, keeps_names);
  run_loop(kPathSteps, kPathStepsBefore, walk_up, 0);
}

// Finds the path as the process sees it. The path of a backing file, which overlayfs opens in one of its layers, is in a
// mount outside of all namespaces; its `user_path` is that of the overlayfs file. In some kernels the kBackingFile bits
// mean something else: then the value read as `user_path` is no valid path, and the walk fails.
static __always_inline bool find_path(struct path_walk *walk, struct file *file, struct path *path) {
  bpf_core_read(path, sizeof *path, &file->f_path);
  walk_path(walk, path, false);
  struct backing_file *backing = (void *)file;
  if (walk->is_whole) return true;
  if (!bpf_core_field_exists(backing->user_path) || !(BPF_CORE_READ(file, f_mode) & kBackingFile)) return false;
  bpf_core_read(path, sizeof *path, &backing->user_path);
  walk_path(walk, path, false);
  return walk->is_whole;
}

static __always_inline bool send_path(struct open_walk *open, struct task_struct *task, const struct inode_key *key,
                                      __u32 flags, __u32 magic) {
  struct thread_state *thread = thread_of(task);
  __u64 bytes = open->walk.bytes, time_ns = now_ns();
  asm volatile("" : "+r"(bytes));
  bytes &= MLRUN_PATH_NAMES_MAX - 1;
  __builtin_memset(&open->text[bytes], 0, sizeof(__u64));
  struct mlrun_file_path *record = &open->record;
  __u64 size = sizeof *record + ((bytes + 7) & ~7ull);
  record->head = make_head(MLRUN_KERNEL_FILE_PATH, size, time_ns, current_pid_tid());
  record->begin_ns = thread && thread->depth ? thread->operations[0].begin_ns : time_ns;
  record->inode = key->inode;
  record->device = key->device;
  record->flags = flags;
  record->names_bytes = bytes;
  record->magic = magic;
  bool is_sent = put(record, size);
  if (!is_sent) count_loss(MLRUN_KERNEL_FILE_PATH, MLRUN_KERNEL_LOSS_RING);
  return is_sent;
}

static __always_inline int emit_path(struct file *file) {
  struct task_struct *task = bpf_get_current_task_btf();
  __u32 how = observed_as(task);
  struct open_walk *open = own_walk();
  if (!how || !open) return 0;
  struct path_walk *walk = &open->walk;
  struct inode *inode = BPF_CORE_READ(file, f_inode);
  __u32 type = BPF_CORE_READ(inode, i_mode) & kFileType;
  if (type != kRegularFile && type != kDirectory) return 0;
  struct path path = {};
  if (!find_path(walk, file, &path)) return 0;
  struct inode_key key = {BPF_CORE_READ(inode, i_ino), device_of_inode(inode), 0};
  struct emitted_path emitted = {walk->names, BPF_CORE_READ(inode, i_generation), 0};
  struct emitted_path *last = bpf_map_lookup_elem(&emitted_paths, &key);
  bool is_created = BPF_CORE_READ(file, f_mode) & kCreated;
  if (last && !is_created && last->names == emitted.names && last->generation == emitted.generation) return 0;
  walk_path(walk, &path, true);
  emitted.names = walk->names;
  if (!walk->is_whole) {
    count_loss(MLRUN_KERNEL_FILE_PATH, MLRUN_KERNEL_LOSS_MAP);
    return 0;
  }
  __u32 flags = (type == kDirectory ? MLRUN_PATH_FOLDER : 0) | (is_created ? MLRUN_PATH_CREATED : 0);
  bool is_sent = send_path(open, task, &key, flags, BPF_CORE_READ(inode, i_sb, s_magic));
  // With MLRUN_OBSERVED_LAUNCHER the open may be the loader's trial (open_paths.h), whose record reaches no trace: the
  // next open has to record the path again.
  if (is_sent && how == MLRUN_OBSERVED) bpf_map_update_elem(&emitted_paths, &key, &emitted, BPF_ANY);
  return 0;
}

// Every open calls this function, also an open of overlayfs in one of its layers. The inode is known here, and whether the
// open created it.
SEC("fentry/security_file_open")
int BPF_PROG(on_open, struct file *file) { return emit_path(file); }

SEC("kprobe/security_file_open")
int on_open_call(struct pt_regs *registers) { return emit_path((void *)registers->di); }
