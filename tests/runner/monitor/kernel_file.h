// SPDX-License-Identifier: Apache-2.0
// A kernel side's spool as it grows, and records for it.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runner/events/kernel_record.h"
#include "runner/events/spool.h"
#include "runner/util/spool_frame.h"

namespace mlrun::monitor {

using Record = std::string;

template <typename T>
Record record_of(T record, mlrun_kernel_kind kind, uint32_t pid, uint32_t tid) {
  record.head.kind = kind;
  record.head.bytes = sizeof record;
  record.head.pid = pid;
  record.head.tid = tid;
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

inline Record task(uint32_t pid, mlrun_task_event event = MLRUN_TASK_SEEN, uint32_t tid = 0) {
  mlrun_task record{};
  record.event = event;
  return record_of(record, MLRUN_KERNEL_TASK, pid, tid != 0 ? tid : pid);
}

inline std::string frame_of(const std::vector<Record>& records, uint16_t type = MLRUN_FRAME_KERNEL) {
  std::string payload;
  for (const Record& record : records) payload += record;
  mlrun_frame frame{};
  frame.type = type;
  frame.payload_bytes = static_cast<uint32_t>(payload.size());
  util::seal_frame(frame, payload.data());
  std::string bytes(reinterpret_cast<const char*>(&frame), sizeof frame);
  bytes += payload;
  bytes.resize(util::frame_aligned(bytes.size()));
  return bytes;
}

class KernelFile {
 public:
  KernelFile() {
    char name[] = "/tmp/mlrun-kernel-file-XXXXXX";
    folder_ = ::mkdtemp(name);
    stream_.open(path(), std::ios::binary);
    stream_.flush();
  }
  ~KernelFile() { std::filesystem::remove_all(folder_); }
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/kernel.bin"; }
  void add(const std::string& bytes) { stream_.write(bytes.data(), std::ssize(bytes)).flush(); }
  void add_frame(const std::vector<Record>& records) { add(frame_of(records)); }
  void go_to(uint64_t offset) { stream_.seekp(static_cast<std::streamoff>(offset)); }

 private:
  std::string folder_;
  std::ofstream stream_;
};

}  // namespace mlrun::monitor
