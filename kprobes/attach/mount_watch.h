// SPDX-License-Identifier: Apache-2.0
// Tells when something is mounted or unmounted: in the mount namespace of this process and in those of the processes that
// are named. A descriptor of /proc/PID/mountinfo stays that of the namespace when the process has gone.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kprobes/attach/file_functions.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

class MountWatch {
 public:
  MountWatch();
  // That of this process, if it is another one; beyond some dozens it is not watched.
  void add(uint32_t pid);

  // Namespaces in which none of the named processes lives are not watched any more: a descriptor keeps all their mounts.
  void drop_ended();
  void drop_all() { namespaces_.clear(); }

  // For poll(): there are events where something has changed since the last poll(). None is added before it is time to
  // read all mounts again, which takes at most a tenth of our time; what changes meanwhile is told then.
  void add_to(std::vector<pollfd>& watched, uint64_t now_ns) const;

  // Of all that is mounted in these namespaces.
  [[nodiscard]] FileSystemTypes types();
  // Of what types() has ever found mounted from a device or a server.
  [[nodiscard]] const FileSystemTypes& served() const { return served_; }

 private:
  struct Namespace {
    util::UniqueFd mounts;
    ino_t inode = 0;
    std::vector<uint32_t> processes;  // that were named; none: it is our own
  };
  void add(const std::string& folder, std::vector<uint32_t> named);  // of the process

  std::vector<Namespace> namespaces_;
  FileSystemTypes served_;
  uint64_t next_ns_ = 0;  // when mounts may be read again
};

}  // namespace mlrun::probes
