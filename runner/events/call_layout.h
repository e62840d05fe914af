// SPDX-License-Identifier: Apache-2.0
// The layout of a call record (record.h) by function of hooks.def: for calls on a path, or for calls on a descriptor
// (five units: on two descriptors, or of a mapping).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlrun::events {

namespace func {
enum Number : uint16_t {
#define FUNCTION(number, name, ...) k_##name = number,
#define HANDMADE(number, name, ...) FUNCTION(number, name)
#define ROW(number, name, ...)      FUNCTION(number, name)
#include "runner/events/hooks.def"
};
}  // namespace func

namespace func {
inline constexpr Number kOnPath[] = {k_open,
                                     k_openat,
                                     k_creat,
                                     k_opendir,
                                     k_fopen,
                                     k_freopen,
                                     k_tmpfile,
                                     k_mkstemp,
                                     k_stat,
                                     k_lstat,
                                     k_fstatat,
                                     k_statx,
                                     k_unlink,
                                     k_unlinkat,
                                     k_rename,
                                     k_renameat,
                                     k_renameat2,
                                     k_mkdir,
                                     k_mkdirat,
                                     k_rmdir,
                                     k_chdir,
                                     k_execve,
                                     k_posix_spawn,
                                     k_access,
                                     k_faccessat,
                                     k_euidaccess,
                                     k_link,
                                     k_linkat,
                                     k_symlink,
                                     k_symlinkat,
                                     k_readlink,
                                     k_readlinkat,
                                     k_realpath,
                                     k_chmod,
                                     k_lchmod,
                                     k_fchmodat,
                                     k_chown,
                                     k_lchown,
                                     k_fchownat,
                                     k_utime,
                                     k_utimes,
                                     k_lutimes,
                                     k_futimesat,
                                     k_utimensat,
                                     k_mknod,
                                     k_mknodat,
                                     k_mkfifo,
                                     k_mkfifoat,
                                     k_mkdtemp,
                                     k_remove,
                                     k_statfs,
                                     k_statvfs,
                                     k_getxattr,
                                     k_lgetxattr,
                                     k_setxattr,
                                     k_lsetxattr,
                                     k_listxattr,
                                     k_llistxattr,
                                     k_removexattr,
                                     k_lremovexattr,
                                     k_chroot,
                                     k_name_to_handle_at,
                                     k_open_by_handle_at,
                                     k_scandir,
                                     k_scandirat,
                                     k_glob,
                                     k_shm_open,
                                     k_shm_unlink,
                                     k_sem_open,
                                     k_sem_unlink,
                                     k_truncate};
}  // namespace func

// Calls whose record has a fifth unit with the requested address.
constexpr bool maps(uint16_t number) { return number == func::k_mmap || number == func::k_mremap; }

constexpr bool has_path_layout(uint16_t number) {
  constexpr size_t kNumbers = 256;
  constexpr auto kLayouts = [] {
    std::array<bool, kNumbers> on_path{};
    for (const func::Number each : func::kOnPath) on_path[each] = true;
    return on_path;
  }();
  return number < kNumbers && kLayouts[number];
}

}  // namespace mlrun::events
