// SPDX-License-Identifier: Apache-2.0
// A path name as passed to a call: the string, and what the path is relative to. The merger resolves each distinct one once.
#pragma once

#include <cstdint>

#include "runner/decode/event_view.h"
#include "runner/util/scrambled.h"

namespace mlrun::decode {

struct PathRef {
  uint64_t path = 0;  // string ids; 0: none
  uint64_t cwd = 0;
  uint32_t dirfd_file = 0;  // open file number of the dirfd
  bool searched = false;    // the name of a program to execute, searched in PATH if it has no slash

  [[nodiscard]] uint64_t key() const {
    return util::scrambled(util::scrambled(path, cwd), dirfd_file | uint64_t{searched} << 32);
  }
};

// First and second path name of a call. Requires: call.on_path.
inline PathRef first_path(const CallEvent& call) {
  return {call.path, call.cwd, call.dirfd_file, (call.flags & MLRUN_CALL_SEARCHED) != 0};
}
inline PathRef second_path(const CallEvent& call) {
  return {call.second_path, call.cwd, call.second_dirfd_file, false};
}

// The name that a call gave to a file opened without one (O_TMPFILE).
struct GivenName {
  uint32_t open_file = 0;
  PathRef name;
};

}  // namespace mlrun::decode
