// SPDX-License-Identifier: Apache-2.0
// The mounted file systems of this machine, to tell where a file lies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlrun::trace {

struct Mount {
  uint32_t device = 0;  // as stat has it
  std::string point, file_system;
};

class Mounts {
 public:
  // `mountinfo`: the text of /proc/PID/mountinfo. Lines that cannot be read are left out.
  explicit Mounts(std::string_view mountinfo);

  // The mount with the file's device whose point is the longest beginning of `path`; without such a device (0, or one
  // that a file system made up) the longest beginning alone. nullptr: there is none.
  [[nodiscard]] const Mount* find(uint32_t device, std::string_view path) const;

  // A mount with that device, that with the shortest point; nullptr: there is none.
  [[nodiscard]] const Mount* of_device(uint32_t device) const;

 private:
  std::vector<Mount>
      mounts_;  // longest points first; of two at one place the later one first, because it hides the other
};

}  // namespace mlrun::trace
