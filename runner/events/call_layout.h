// SPDX-License-Identifier: Apache-2.0
// Which of the two layouts of a call record (record.h) a function of hooks.def uses: the one for calls on a path, or
// the one for calls on a descriptor.
#pragma once

#include <cstdint>

namespace mlrun::events {

namespace func {
enum Number : uint16_t {
#define FUNCTION(number, name, ...) k_##name = number,
#define HANDMADE(number, name, ...) FUNCTION(number, name)
#include "runner/events/hooks.def"
};
}  // namespace func

constexpr bool has_path_layout(uint16_t number) {
  using namespace func;
  switch (number) {
    case k_open:
    case k_openat:
    case k_creat:
    case k_opendir:
    case k_fopen:
    case k_freopen:
    case k_tmpfile:
    case k_mkstemp:
    case k_stat:
    case k_lstat:
    case k_fstatat:
    case k_statx:
    case k_unlink:
    case k_unlinkat:
    case k_rename:
    case k_renameat:
    case k_renameat2:
    case k_mkdir:
    case k_mkdirat:
    case k_rmdir:
    case k_chdir:
    case k_execve:
    case k_posix_spawn: return true;
  }
  return false;
}

}  // namespace mlrun::events
