// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The device of an inode's file system as stat() reports it. Each Btrfs subvolume has a device number of its own, with
// its own inode numbers; it is found only if the btrfs module was loaded when the run began.
#pragma once

#include "kprobes/bpf/kernel.h"

enum { kBtrfs = 0x9123683e, kDeviceMinorBits = 20 };

// `device`: number in the super block. For a file system on a disk (major number not 0) stat() reports the same.
static __always_inline __u32 device_by_stat(struct inode *inode, struct super_block *file_system, __u32 device) {
  if (device >> kDeviceMinorBits || !bpf_core_type_exists(struct btrfs_inode)) return device;
  if (BPF_CORE_READ(file_system, s_magic) != kBtrfs) return device;
  // As a number: the verifier allows no access before the start of a typed structure.
  __u64 address = (__u64)BPF_CORE_READ(inode, i_mapping, host);
  struct btrfs_inode *own = (void *)(address - bpf_core_field_offset(struct btrfs_inode, vfs_inode));
  return BPF_CORE_READ(own, root, anon_dev);
}

static __always_inline __u32 device_of_inode(struct inode *inode) {
  struct super_block *file_system = BPF_CORE_READ(inode, i_sb);
  return device_by_stat(inode, file_system, BPF_CORE_READ(file_system, s_dev));
}
