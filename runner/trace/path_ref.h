// SPDX-License-Identifier: Apache-2.0
// A name as a call gave it: the string, and what it is relative to. The merger turns each distinct one into a file
// once.
#pragma once

#include <cstdint>

#include "runner/trace/scrambled.h"

namespace mlrun::trace {

struct PathRef {
  uint64_t path = 0;  // string ids; 0: none
  uint64_t cwd = 0;
  uint32_t dirfd_file = 0;  // open file number

  [[nodiscard]] uint64_t key() const { return scrambled(scrambled(path, cwd), dirfd_file); }
};

// The first and the second name of a call on a path. Requires: call.on_path.
template <typename Call>
PathRef first_path(const Call& call) {
  return {call.path, call.cwd, call.dirfd_file};
}
template <typename Call>
PathRef second_path(const Call& call) {
  return {call.second_path, call.cwd, call.second_dirfd_file};
}

}  // namespace mlrun::trace
