// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The few kernel types that the probes read, with the fields in use. The running kernel gives offsets and sizes at load
// (CO-RE). Where a name or type changed between kernels there is a flavour (name___suffix, which the loader ignores),
// checked with bpf_core_field_exists.
#pragma once
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };
typedef __u64 sector_t;
typedef __u32 dev_t;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_CGROUP_ARRAY = 8,
  BPF_MAP_TYPE_LRU_HASH = 9,
  BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29
};
// Registers on x86-64, in which a kprobe finds a function's arguments.
struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };
enum bpf_func_id { BPF_FUNC_loop = 181 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

// The values below are those of one kernel version: always use bpf_core_enum_value.
enum req_op {
  REQ_OP_READ = 0,
  REQ_OP_WRITE = 1,
  REQ_OP_FLUSH = 2,
  REQ_OP_DISCARD = 3,
  REQ_OP_SECURE_ERASE = 5,
  REQ_OP_WRITE_ZEROES = 9,
  REQ_OP_DRV_IN = 34,
  REQ_OP_DRV_OUT = 35
};
enum req_opf {  // before 6.0
  REQ_OP_SECURE_ERASE___opf = 5,
  REQ_OP_WRITE_ZEROES___opf = 9,
  REQ_OP_DRV_IN___opf = 34,
  REQ_OP_DRV_OUT___opf = 35
};
enum req_flag_bits {
  __REQ_SYNC = 11,
  __REQ_META = 12,
  __REQ_FUA = 16,
  __REQ_PREFLUSH = 17,
  __REQ_RAHEAD = 18,
  __REQ_BACKGROUND = 19,
  __REQ_POLLED = 23
};
enum pageflags { PG_locked = 0, PG_writeback = 15, PG_head = 16 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct address_space;
struct super_block {
  dev_t s_dev;
  unsigned long s_flags, s_iflags, s_magic;
};
struct inode {
  unsigned short i_mode;
  unsigned int i_flags;
  struct super_block *i_sb;
  struct address_space *i_mapping;
  unsigned long i_ino;
  long long i_size;
  unsigned int i_generation;
};
struct address_space {
  struct inode *host;
};
struct btrfs_root {
  dev_t anon_dev;
};
struct btrfs_inode {
  struct btrfs_root *root;
  struct inode vfs_inode;
};
struct qstr {
  __u64 hash_len;  // the length in the upper half; the hash takes in the parent's address
  const unsigned char *name;
};
struct dentry {
  struct dentry *d_parent;
  struct qstr d_name;
  struct inode *d_inode;
};
struct vfsmount {
  struct dentry *mnt_root;
};
struct mount {
  struct mount *mnt_parent;
  struct dentry *mnt_mountpoint;
  struct vfsmount mnt;
  void *mnt_ns;
};
struct path {
  struct vfsmount *mnt;
  struct dentry *dentry;
};
struct fs_struct {
  struct path root, pwd;
};
struct filename {
  const char *name;
};
struct file_operations {
  void *read_iter, *write_iter;
};
struct file {
  const struct file_operations *f_op;
  unsigned int f_mode, f_flags;
  struct inode *f_inode;
  struct path f_path;
  long long f_pos;
};
struct file___count {  // before 6.13
  struct {
    long counter;
  } f_count;
};
struct file___ref {
  struct {
    struct {
      long counter;
    } refcnt;
  } f_ref;
};
struct backing_file {     // since 6.5: a file that overlayfs opens in one of its layers
  struct path user_path;  // path of the overlayfs file; since 6.7; before 6.7 it is in f_path
};
struct fdtable {
  unsigned int max_fds;
  struct file **fd;
};
struct files_struct {
  struct fdtable *fdt;
};
struct kiocb {
  struct file *ki_filp;
  long long ki_pos;
  void *ki_complete;
};
struct iov_iter {
  unsigned long count;
};
struct vm_area_struct {
  struct file *vm_file;
};
struct vm_fault {
  struct vm_area_struct *vma;
  unsigned long pgoff;
};
struct page {
  unsigned long compound_head;
};
struct page___info {  // in Linux 7.3; 6.18 still has compound_head
  unsigned long compound_info;
};
struct page___mapped {  // before folios (5.16)
  struct address_space *mapping;
  unsigned long index;
};
struct folio {
  struct address_space *mapping;
  unsigned long index;
};
struct bio_vec {
  struct page *bv_page;
  unsigned int bv_len, bv_offset;
};
struct bvec_iter {
  sector_t bi_sector;
  unsigned int bi_size, bi_idx;
};

struct kernfs_node {
  __u64 id;
};
struct cgroup {
  struct kernfs_node *kn;
};
struct cgroup_subsys_state {
  struct cgroup *cgroup;
};
struct blkcg {
  struct cgroup_subsys_state css;
};
struct blkcg_gq {
  struct blkcg *blkcg;
};

struct block_device_operations {
  void *submit_bio;
};
struct gendisk {
  int major, first_minor;
  char disk_name[32];
  struct block_device_operations *fops;
  struct request_queue *queue;
};
struct block_device {
  dev_t bd_dev;
  struct gendisk *bd_disk;
};
struct bio {
  struct bio *bi_next;
  struct block_device *bi_bdev;
  unsigned int bi_opf;
  struct bvec_iter bi_iter;
  void *bi_private;
  struct bio_vec *bi_io_vec;
  struct blkcg_gq *bi_blkg;
};
struct request_queue {
  struct gendisk *disk;
};
struct request {
  struct request_queue *q;
  unsigned int cmd_flags;
  unsigned int __data_len;
  sector_t __sector;
  struct bio *bio;
};
struct request___disk {  // before 5.17
  struct gendisk *rq_disk;
};

struct rpc_procinfo {
  __u32 p_proc;
  const char *p_name;
};
struct rpc_message {
  const struct rpc_procinfo *rpc_proc;
};
struct rpc_program {
  const char *name;
};
struct rpc_clnt {
  const struct rpc_program *cl_program;
  __u32 cl_vers;
};
struct rpc_xprt {
  const char *address_strings[6];  // the first one: the server's address
};
struct rpc_rqst {
  unsigned long rq_xmit_bytes_sent, rq_reply_bytes_recvd;
  __s64 rq_rtt, rq_xtime;
  int rq_ntrans;
};
struct rpc_task {
  int tk_status;
  struct rpc_message tk_msg;
  struct rpc_clnt *tk_client;
  struct rpc_xprt *tk_xprt;
  struct rpc_rqst *tk_rqstp;
  __s64 tk_start;
};

struct p9_fcall {
  __u32 size;
  __u8 id;
  __u16 tag;
  __u8 *sdata;
};
struct p9_req_t {
  struct p9_fcall tc, rc;
};

struct fuse_in_header {
  __u32 len, opcode;
};
struct fuse_out_header {
  __u32 len;
  __s32 error;
};
struct fuse_req {
  struct {
    struct fuse_in_header h;
  } in;
  struct {
    struct fuse_out_header h;
  } out;
};

struct thread_info {
  __u32 status;
};
typedef struct {
  __u32 val;
} kuid_t;
typedef struct {
  __u32 val;
} kgid_t;
struct user_namespace {
  int level;
};
struct cred {
  kuid_t uid, suid, euid, fsuid;
  kgid_t gid, sgid, egid, fsgid;
  struct kernel_cap_struct {
    __u64 val;
  } cap_permitted;
  struct user_namespace *user_ns;
};
struct ns_common {
  unsigned int inum;
};
struct pid_namespace {
  struct ns_common ns;
};
struct upid {
  int nr;
  struct pid_namespace *ns;
};
struct pid {
  unsigned int level;
  struct upid numbers[1];
};
struct task_struct {
  struct thread_info thread_info;
  const struct cred *real_cred;
  unsigned int flags, __state;
  int pid, tgid;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct fs_struct *fs;
  struct files_struct *files;
  __u64 start_boottime;
  char comm[16];
  unsigned int in_iowait : 1;
};
struct linux_binprm {
  unsigned int secureexec : 1;
  unsigned int interp_flags;
};

#pragma clang attribute pop
