// SPDX-License-Identifier: Apache-2.0
// Records the names of files that processes have open or mapped, if no BPF program recorded them at the open. It reads
// only /proc, which queries no server of a remote file system, so it cannot hang on one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kprobes/rings/kernel_spool.h"
#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class SeenFiles {
 public:
  // `between` is called between two files.
  SeenFiles(KernelSpool& spool, std::function<void()> between) : spool_(spool), between_(std::move(between)) {}

  void read_open(uint32_t pid);
  void read_mapped(uint32_t pid);

  [[nodiscard]] bool has(uint32_t device, uint64_t inode) const { return recorded_.contains({device, inode}); }
  // A BPF program has recorded the name of this file at `time_ns`.
  void note(uint32_t device, uint64_t inode, uint64_t time_ns);
  // A file was created with this inode number: an earlier file with that number, and its name, no longer exist.
  void forget(uint32_t device, uint64_t inode, uint64_t before_ns);

 private:
  struct File {
    uint32_t device = 0;
    uint64_t inode = 0;
    mlrun_file_seen_as as = MLRUN_SEEN_OPEN;
  };
  void record(uint32_t pid, const File& file, std::string_view path, uint64_t now_ns);

  KernelSpool& spool_;
  std::function<void()> between_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> recorded_;  // by device and inode: time of the record
};

}  // namespace mlrun::probes
