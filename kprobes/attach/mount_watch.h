// SPDX-License-Identifier: Apache-2.0
// Notices mounts and unmounts in the mount namespaces of this process and of the named processes. An open descriptor of
// /proc/PID/mountinfo stays bound to the namespace after the process has ended.
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
  // Watches that process's namespace if it is another one; beyond some dozens, namespaces are not watched.
  void add(uint32_t pid);

  // Stops watching namespaces that contain no named process any more: a descriptor keeps all their mounts alive.
  void drop_ended();
  void drop_all() { namespaces_.clear(); }

  // For poll(): a descriptor has events when something changed since the last poll(). No descriptor is added while the
  // time share for reading mounts (a tenth) is used up; changes in between are reported afterwards.
  void add_to(std::vector<pollfd>& watched, uint64_t now_ns) const;

  // Types of all mounts in these namespaces.
  [[nodiscard]] FileSystemTypes types();
  // Every type that types() has found mounted from a device or a server.
  [[nodiscard]] const FileSystemTypes& served() const { return served_; }

 private:
  struct Namespace {
    util::UniqueFd mounts;
    ino_t inode = 0;
    std::vector<uint32_t> processes;  // the named ones; empty: our own namespace
  };
  void add(const std::string& folder, std::vector<uint32_t> named);  // of the process

  std::vector<Namespace> namespaces_;
  FileSystemTypes served_;
  uint64_t next_ns_ = 0;  // when mounts may be read again
};

}  // namespace mlrun::probes
