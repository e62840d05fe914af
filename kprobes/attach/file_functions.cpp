// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/file_functions.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "runner/util/file_io.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr auto kIterator = MLRUN_ARGUMENTS_ITERATOR;
constexpr auto kGeneral = MLRUN_ARGUMENTS_GENERAL_ITERATOR;
constexpr auto kSync = MLRUN_ARGUMENTS_SYNC;
constexpr auto kClone = MLRUN_ARGUMENTS_CLONE;
constexpr auto kCompletion = MLRUN_ARGUMENTS_COMPLETION;
constexpr std::string_view kPageCacheOnly = " vfat msdos exfat ext2 iso9660 squashfs udf minix hfsplus 9p ";

// A function whose name differs between kernels has an entry for each name.
constexpr std::array kFunctions = {
    FileFunction{MLRUN_FILE_READ, kIterator, "ext4_file_read_iter", "ext4", " ext4 ext3 ext2 "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "ext4_file_write_iter", "ext4", " ext4 ext3 ext2 "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "ext4_sync_file", "ext4", " ext4 ext3 ext2 "},
    FileFunction{MLRUN_FILE_READ, kIterator, "xfs_file_read_iter", "xfs", " xfs "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "xfs_file_write_iter", "xfs", " xfs "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "xfs_file_fsync", "xfs", " xfs "},
    FileFunction{MLRUN_FILE_READ, kIterator, "btrfs_file_read_iter", "btrfs", " btrfs "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "btrfs_file_write_iter", "btrfs", " btrfs "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "btrfs_sync_file", "btrfs", " btrfs "},
    FileFunction{MLRUN_FILE_READ, kIterator, "f2fs_file_read_iter", "f2fs", " f2fs "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "f2fs_file_write_iter", "f2fs", " f2fs "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "f2fs_sync_file", "f2fs", " f2fs "},
    FileFunction{MLRUN_FILE_READ, kIterator, "ovl_read_iter", "overlay", " overlay "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "ovl_write_iter", "overlay", " overlay "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "ovl_fsync", "overlay", " overlay "},
    FileFunction{MLRUN_FILE_READ, kIterator, "v9fs_file_read_iter", "9p", " 9p "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "v9fs_file_write_iter", "9p", " 9p "},
    FileFunction{MLRUN_FILE_READ, kIterator, "v9fs_mmap_file_read_iter", "9p", " 9p "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "v9fs_mmap_file_write_iter", "9p", " 9p "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "v9fs_file_fsync_dotl", "9p", " 9p "},
    FileFunction{MLRUN_FILE_READ, kIterator, "nfs_file_read", "nfs", " nfs nfs4 "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "nfs_file_write", "nfs", " nfs nfs4 "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "nfs_file_fsync", "nfs", " nfs nfs4 "},
    FileFunction{MLRUN_FILE_READ, kIterator, "fuse_file_read_iter", "fuse", " fuse fuseblk virtiofs "},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "fuse_file_write_iter", "fuse", " fuse fuseblk virtiofs "},
    FileFunction{MLRUN_FILE_SYNC, kSync, "fuse_fsync", "fuse", " fuse fuseblk virtiofs "},
    FileFunction{MLRUN_FILE_READ, kGeneral, "generic_file_read_iter", "", kPageCacheOnly},
    // tmpfs: every kernel has it, and the trial (file_op_trial.h) uses it. Up to Linux 6.5 it writes by
    // generic_file_write_iter.
    FileFunction{MLRUN_FILE_READ, kIterator, "shmem_file_read_iter", "", ""},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "shmem_file_write_iter", "", ""},
    FileFunction{MLRUN_FILE_WRITE, kGeneral, "generic_file_write_iter", "", ""},
    FileFunction{MLRUN_FILE_SYNC, kSync, "noop_fsync", "", ""},
    FileFunction{MLRUN_FILE_READ, kIterator, "blkdev_read_iter", "", ""},
    FileFunction{MLRUN_FILE_WRITE, kIterator, "blkdev_write_iter", "", ""},
    FileFunction{MLRUN_FILE_SYNC, kSync, "blkdev_fsync", "", ""},
    FileFunction{MLRUN_FILE_OPEN, MLRUN_ARGUMENTS_FILE_RESULT, "do_filp_open", "", ""},
    FileFunction{MLRUN_FILE_OPEN, MLRUN_ARGUMENTS_FILE_RESULT, "do_file_open", "", ""},
    // Fallback for the two functions above: called in an open after the lookup, so it misses opens that find no file.
    FileFunction{MLRUN_FILE_OPEN, MLRUN_ARGUMENTS_FILE, kOpenFallback, "", "", true},
    FileFunction{MLRUN_FILE_CLOSE, MLRUN_ARGUMENTS_FILE, "__fput", "", ""},
    FileFunction{MLRUN_FILE_UNLINK, MLRUN_ARGUMENTS_NAME, "do_unlinkat", "", ""},
    FileFunction{MLRUN_FILE_UNLINK, MLRUN_ARGUMENTS_NAME, "filename_unlinkat", "", ""},
    FileFunction{MLRUN_FILE_RENAME, MLRUN_ARGUMENTS_NAMES, "do_renameat2", "", ""},
    FileFunction{MLRUN_FILE_RENAME, MLRUN_ARGUMENTS_NAMES, "filename_renameat2", "", ""},
    FileFunction{MLRUN_FILE_MKDIR, MLRUN_ARGUMENTS_NAME, "do_mkdirat", "", ""},
    FileFunction{MLRUN_FILE_MKDIR, MLRUN_ARGUMENTS_NAME, "filename_mkdirat", "", ""},
    FileFunction{MLRUN_FILE_RMDIR, MLRUN_ARGUMENTS_NAME, "do_rmdir", "", ""},
    FileFunction{MLRUN_FILE_RMDIR, MLRUN_ARGUMENTS_NAME, "filename_rmdir", "", ""},
    FileFunction{MLRUN_FILE_TRUNCATE, MLRUN_ARGUMENTS_DENTRY, "do_truncate", "", ""},
    FileFunction{MLRUN_FILE_SPLICE_READ, MLRUN_ARGUMENTS_SPLICE_READ, "filemap_splice_read", "", ""},
    FileFunction{MLRUN_FILE_SPLICE_READ, MLRUN_ARGUMENTS_SPLICE_READ, "generic_file_splice_read", "", ""},
    FileFunction{MLRUN_FILE_SPLICE_READ, MLRUN_ARGUMENTS_SPLICE_READ, "shmem_file_splice_read", "", ""},
    FileFunction{MLRUN_FILE_SPLICE_READ, MLRUN_ARGUMENTS_SPLICE_READ, "copy_splice_read", "", ""},  // O_DIRECT
    FileFunction{MLRUN_FILE_SPLICE_WRITE, MLRUN_ARGUMENTS_SPLICE_WRITE, "iter_file_splice_write", "", ""},
    FileFunction{MLRUN_FILE_FAULT, MLRUN_ARGUMENTS_FAULT, "filemap_fault", "", ""},
    FileFunction{MLRUN_FILE_CLONE, kClone, "xfs_file_remap_range", "xfs", " xfs "},
    FileFunction{MLRUN_FILE_CLONE, kClone, "btrfs_remap_file_range", "btrfs", " btrfs "},
    FileFunction{MLRUN_FILE_CLONE, kClone, "ovl_remap_file_range", "overlay", " overlay "},
    FileFunction{MLRUN_FILE_CLONE, kClone, "nfs42_remap_file_range", "nfsv4", " nfs nfs4 "},
    // The kernel calls these to complete an asynchronous read or write.
    FileFunction{MLRUN_FILE_COMPLETION, kCompletion, "aio_complete_rw", "", ""},
    FileFunction{MLRUN_FILE_COMPLETION, kCompletion, "io_complete_rw", "", ""},
    FileFunction{MLRUN_FILE_COMPLETION, kCompletion, "io_complete_rw_iopoll", "", ""},
};

bool has_one_of(const FileSystemTypes& mounted, std::string_view types) {
  const auto words = util::split(types, " ");
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view type) { return mounted.contains(std::string(type)); });
}

// The type of a mounted file system without its subtype: "fuse" for "fuse.sshfs".
std::string type_of(const util::MountLine& mount) {
  return std::string(mount.file_system.substr(0, mount.file_system.find('.')));
}

}  // namespace

FileSystemTypes types_in(std::string_view mountinfo) {
  FileSystemTypes types;
  for (const std::string_view line : util::split(mountinfo, "\n")) {
    if (const auto mount = util::mount_line(line)) types.insert(type_of(*mount));
  }
  return types;
}

FileSystemTypes mounted_types() { return types_in(util::read_text("/proc/self/mountinfo")); }

std::vector<FileFunction> file_functions(const FileSystemTypes& mounted) {
  std::vector<FileFunction> functions;
  const char* without = ::secure_getenv(kWithoutFunctionsVariable);
  const auto left_out = util::split(without == nullptr ? "" : without, ",");
  for (const FileFunction& function : kFunctions) {
    if (std::find(left_out.begin(), left_out.end(), function.name) != left_out.end()) continue;
    if (function.file_systems.empty() || has_one_of(mounted, function.file_systems)) functions.push_back(function);
  }
  return functions;
}

bool is_mounted(std::string_view types) { return has_one_of(mounted_types(), types); }

const char* file_op_name(uint32_t op) {
  constexpr std::array kNames = {
      "read",        "write",        "fsync",       "open",  "close",
      "unlink",      "rename",       "mkdir",       "rmdir", "truncate",
      "splice read", "splice write", "page faults", "clone", "the end of asynchronous reads and writes"};
  static_assert(kNames.size() == MLRUN_FILE_PURPOSES);
  return op < kNames.size() ? kNames[op] : "other";
}

FileSystemTypes served_types_in(std::string_view mountinfo) {
  FileSystemTypes types;
  for (const std::string_view line : util::split(mountinfo, "\n")) {
    const auto mount = util::mount_line(line);
    if (!mount) continue;
    const std::string type = type_of(*mount);
    if (mount->major != 0 || type == "bcachefs" || is_served_elsewhere(type)) types.insert(type);
  }
  return types;
}

FileSystemTypes mounted_served_types() { return served_types_in(util::read_text("/proc/self/mountinfo")); }

bool is_served_elsewhere(std::string_view type) {
  constexpr std::array<std::string_view, 20> kTypes = {
      "9p",   "afs",    "beegfs", "ceph", "cifs",  "coda",     "fuse",  "gfs2", "glusterfs", "gpfs",
      "kafs", "lustre", "nfs",    "nfs4", "ocfs2", "orangefs", "panfs", "smb3", "virtiofs",  "zfs"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool has_function_of(const std::string& type, const std::function<bool(std::string_view)>& is_attached) {
  const auto functions = file_functions({type});
  return std::any_of(functions.begin(), functions.end(), [&](const FileFunction& function) {
    return !function.file_systems.empty() && is_attached(function.name);
  });
}

}  // namespace mlrun::probes
