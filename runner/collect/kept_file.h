// SPDX-License-Identifier: Apache-2.0
// What has to outlive the events that are freed: names, files, processes, threads, and what was lost. Frames as in the
// spool (runner/events/spool.h), written to a file of their own beside it. They are held back in memory, which costs
// nothing if mlrun is killed, until flush(): as long as what they stand for is in the spool, they are there twice.
#pragma once

#include <cstdint>
#include <string>

#include "runner/events/spool.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

class KeptFile {
 public:
  // Makes the file (it must not exist), mode 0600.
  static Result<KeptFile> create(const std::string& path);

  // Magic, version, payload_bytes and crc32c of the header are filled in. Requires: bytes <= MLRUN_FRAME_PAYLOAD_MAX.
  void add(mlrun_frame header, const void* payload, uint32_t bytes);

  // Writes what is held back. False: it could not be written.
  [[nodiscard]] bool flush();

  [[nodiscard]] uint64_t bytes() const { return end_; }
  [[nodiscard]] bool is_due() const { return held_.size() >= kHeldBytes; }

 private:
  static constexpr size_t kHeldBytes = 1 << 20;

  util::UniqueFd fd_;
  std::string held_;  // the last held_.size() bytes up to end_
  uint64_t end_ = 0;
};

}  // namespace mlrun::collect
