// SPDX-License-Identifier: Apache-2.0
// The mounted file systems of this machine, to find the one of a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlrun::trace {

struct Mount {
  uint32_t device = 0;  // as in stat
  std::string point, file_system;
};

class Mounts {
 public:
  // `mountinfo`: the text of /proc/PID/mountinfo. Malformed lines are ignored.
  explicit Mounts(std::string_view mountinfo);

  // The mount with the file's device whose mount point is the longest prefix of `path`; if no mount has the device (0,
  // or one made up by a file system), the longest prefix among all. nullptr: none.
  [[nodiscard]] const Mount* find(uint32_t device, std::string_view path) const;

  // The mount of that device with the shortest mount point; nullptr: none.
  [[nodiscard]] const Mount* of_device(uint32_t device) const;

 private:
  std::vector<Mount>
      mounts_;  // longest mount points first; of two at one path the later mount first, because it hides the earlier
};

}  // namespace mlrun::trace
