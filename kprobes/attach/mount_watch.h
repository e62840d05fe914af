// SPDX-License-Identifier: Apache-2.0
// Detects mounts and unmounts in the mount namespaces of mlrun-probes and of the processes that mlrun names. An open
// descriptor of /proc/PID/mountinfo stays bound to the namespace after the process has ended.
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
  // Watches the mount namespace of process `pid`, if it is not watched yet. At most 64 namespaces are watched.
  void add(uint32_t pid);

  // Stops watching namespaces whose named processes have all ended: an open descriptor keeps all mounts of it alive.
  void drop_ended();
  void drop_all() { namespaces_.clear(); }

  // Adds descriptors for poll(), which report an event if mounts have changed since the last poll(). Adds none while
  // the share of time for reading mounts (a tenth) is used up; changes in between are reported later.
  void add_to(std::vector<pollfd>& watched, uint64_t now_ns) const;

  // The types of all mounts in the watched namespaces.
  [[nodiscard]] FileSystemTypes types();
  // Every type that types() has found mounted from a device or a server.
  [[nodiscard]] const FileSystemTypes& served() const { return served_; }

 private:
  struct Namespace {
    util::UniqueFd mounts;
    ino_t inode = 0;
    std::vector<uint32_t> processes;  // named processes in it; empty: the namespace of mlrun-probes
  };
  void add(const std::string& folder, std::vector<uint32_t> named);  // folder: /proc/PID

  std::vector<Namespace> namespaces_;
  FileSystemTypes served_;
  uint64_t next_ns_ = 0;  // when mounts may be read again
};

}  // namespace mlrun::probes
