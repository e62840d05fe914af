// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The names passed to unlink, rename, mkdir and rmdir, and the folder that each is relative to. They are read at the
// beginning of the operation, as both may change until its end. They are not resolved, so failed operations have them
// too, and symbolic links appear as the program named them.
#pragma once

#include "kprobes/bpf/descriptor.h"
#include "kprobes/bpf/path_walk.h"
#include "kprobes/bpf/ring.h"

enum {
  kFolderSteps = 64,      // names and mounts on the way up; bpf_loop would need BPF functions, see the end of this file
  kCurrentFolder = -100,  // AT_FDCWD
};

// A buffer per processor and kind of operation: the program of one operation never interrupts itself on a processor,
// but the program of another operation may interrupt it.
struct name_walk {
  struct path_walk walk;
  struct mlrun_file_name record;
  char text[2 * MLRUN_PATH_NAMES_MAX + sizeof(__u64)];  // directly after the record
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, MLRUN_FILE_RMDIR - MLRUN_FILE_UNLINK + 1);
  __type(key, __u32);
  __type(value, struct name_walk);
} name_walks SEC(".maps");

struct given_name {
  __u64 text;  // address of the name
  __s32 folder;
  __u32 which;
  bool is_user;  // `text` is in user memory
};

static __always_inline long read_text(char *to, __u32 bytes, const struct given_name *name) {
  return name->is_user ? bpf_probe_read_user_str(to, bytes, (void *)name->text)
                       : bpf_probe_read_kernel_str(to, bytes, (void *)name->text);
}

static __always_inline bool find_folder(struct path *path, const struct given_name *name) {
  struct fs_struct *folders = BPF_CORE_READ(bpf_get_current_task_btf(), fs);
  char first[2] = {};
  if (read_text(first, sizeof first, name) < 0) return false;
  struct file *file = first[0] != '/' && name->folder != kCurrentFolder ? file_at(name->folder) : 0;
  if (first[0] == '/')
    bpf_core_read(path, sizeof *path, &folders->root);
  else if (name->folder == kCurrentFolder)
    bpf_core_read(path, sizeof *path, &folders->pwd);
  else if (file)
    bpf_core_read(path, sizeof *path, &file->f_path);
  return path->dentry;
}

// Emits a name and its folder. False: the name could not be read, as user memory may not be paged in yet, or the folder
// was not found.
static __always_inline bool emit_name(__u32 program, __u64 operation, const struct given_name *name) {
  struct name_walk *own = bpf_map_lookup_elem(&name_walks, &program);
  struct path folder = {};
  if (!own || !find_folder(&folder, name)) return false;
  begin_walk(&own->walk, &folder, true);
  // The explicit jump keeps the compiler from letting the loop's end fall through into its beginning, which older
  // verifiers (6.1) take for an infinite loop. 64 bits: before 5.16 they lose the bounds of 32-bit numbers on the
  // stack.
  __u64 left = kFolderSteps;
up:
  if (!step_up(&own->walk, own->text) && left) {
    left--;
    asm volatile goto("goto %l0" : : : : up);
    __builtin_unreachable();
  }
  if (!own->walk.is_whole) {
    count_loss(MLRUN_KERNEL_FILE_NAME, MLRUN_KERNEL_LOSS_MAP);
    return true;
  }
  __u64 folder_bytes = own->walk.bytes;
  asm volatile("" : "+r"(folder_bytes));
  folder_bytes &= MLRUN_PATH_NAMES_MAX - 1;
  long length = read_text(&own->text[folder_bytes], MLRUN_PATH_NAMES_MAX, name);
  if (length <= 0) return false;
  __u64 bytes = folder_bytes + length - 1;
  asm volatile("" : "+r"(bytes));
  bytes &= 2 * MLRUN_PATH_NAMES_MAX - 1;
  __builtin_memset(&own->text[bytes], 0, sizeof(__u64));
  struct mlrun_file_name *record = &own->record;
  __u64 size = sizeof *record + ((bytes + 7) & ~7ull);
  record->head = make_head(MLRUN_KERNEL_FILE_NAME, size, now_ns(), current_pid_tid());
  record->operation = operation;
  record->which = name->which;
  record->folder_bytes = folder_bytes;
  record->name_bytes = bytes - folder_bytes;
  record->spare = 0;
  if (!put(record, size)) count_loss(MLRUN_KERNEL_FILE_NAME, MLRUN_KERNEL_LOSS_RING);
  return true;
}

// emit_name as a BPF function, which the verifier checks once and not on each path that leads to it: the programs that
// serve all kinds of operations have so many paths that Linux 5.15 would refuse them. The fentry programs, loaded once
// for each probed function, cannot call BPF functions (function_probe.h).
enum { kSecondName = 1, kNameOfUser = 2 };
__noinline int emit_name_apart(__u32 program, __u64 operation, __u64 text, __s32 folder, __u32 kind) {
  struct given_name name = {text, folder, kind & kSecondName, kind & kNameOfUser};
  return emit_name(program, operation, &name);
}
