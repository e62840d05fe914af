// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Collects the names from a folder or file up to the root of its mount namespace.
//
//   dentry ── d_parent ── d_parent ── top of the mount ── its mount point ── d_parent ── ... ── root of the namespace
//
// bpf_d_path() does not suffice: it stops at the root of a process that has called chroot(), and it accepts only the
// path inside struct file. For a file that overlayfs opens in one of its layers, no process sees that path.
#pragma once

#include "kprobes/bpf/kernel.h"
#include "kprobes/bpf/shared.h"

enum { kNameMax = 255 };
const __u64 kErrorsBegin = -4095ull;  // from this value on a pointer is an errno (ERR_PTR)
const __u64 kMixer = 0x9e3779b97f4a7c15;

struct path_walk {
  __u64 dentry, mount, top;  // the current position, its mount, and the mount's root
  __u64 names;               // hash of the names and folders passed so far
  __u32 bytes;
  bool keeps_names, is_whole;
};

static __always_inline void enter_mount(struct path_walk *walk, struct mount *mount) {
  walk->mount = (__u64)mount;
  walk->top = (__u64)BPF_CORE_READ(mount, mnt.mnt_root);
}

// False for the kernel's internal mounts and for unmounted ones: no mount namespace contains them.
static __always_inline bool is_in_a_namespace(struct mount *mount) {
  __u64 namespace = (__u64)BPF_CORE_READ(mount, mnt_ns);
  return namespace && namespace < kErrorsBegin;
}

// Appends the name of `dentry` to `text`. False: the path would exceed MLRUN_PATH_NAMES_MAX. The masks are for the
// verifier, to which numbers from a map are unbounded. Requires: `text` has kNameMax + 1 bytes more than that.
static __always_inline bool keep_name(struct path_walk *walk, char *text, struct dentry *dentry, __u64 length) {
  __u64 at = walk->bytes;
  if (length > kNameMax || at + length + 1 >= MLRUN_PATH_NAMES_MAX) return false;
  asm volatile("" : "+r"(at), "+r"(length));
  at &= MLRUN_PATH_NAMES_MAX - 1;
  length &= kNameMax;
  bpf_probe_read_kernel(&text[at], length, BPF_CORE_READ(dentry, d_name.name));
  text[at + length] = '/';
  walk->bytes = at + length + 1;
  return true;
}

// Moves up by one name or one mount. Returns 1 when the walk ends.
static __always_inline long step_up(struct path_walk *walk, char *text) {
  struct dentry *dentry = (void *)walk->dentry;
  struct mount *mount = (void *)walk->mount;
  if (walk->dentry == walk->top) {
    struct mount *above = BPF_CORE_READ(mount, mnt_parent);
    if (above == mount) {
      walk->is_whole = is_in_a_namespace(mount);
      return 1;
    }
    walk->dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
    enter_mount(walk, above);
    return 0;
  }
  struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
  if (parent == dentry) return 1;  // moved out of the folder that this mount shows
  __u64 name = BPF_CORE_READ(dentry, d_name.hash_len);
  walk->names = (walk->names ^ name ^ (__u64)parent) * kMixer;
  walk->names ^= walk->names >> 32;
  walk->dentry = (__u64)parent;
  return walk->keeps_names && !keep_name(walk, text, dentry, name >> 32);
}

static __always_inline void begin_walk(struct path_walk *walk, const struct path *path, bool keeps_names) {
  walk->dentry = (__u64)path->dentry;
  walk->names = walk->bytes = 0;
  walk->keeps_names = keeps_names;
  walk->is_whole = false;
  enter_mount(walk, (void *)path->mnt - bpf_core_field_offset(struct mount, mnt));
}
