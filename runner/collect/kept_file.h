// SPDX-License-Identifier: Apache-2.0
// What has to outlive the events that are freed: names, files, processes, threads, and what was lost. Frames as in the
// spool (runner/events/spool.h), written to a file of their own beside it. They are held back in memory, which costs
// nothing if mlrun is killed, until flush(): as long as what they stand for is in the spool, they are there twice.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

class KeptFile {
 public:
  // Makes the file (it must not exist), mode 0600.
  static Result<KeptFile> create(const std::string& path);

  // What rewrite() leaves if mlrun is killed in it.
  static std::string unfinished_path(const std::string& path) { return path + ".new"; }

  // Magic, version, payload_bytes and crc32c of the header are filled in. Requires: bytes <= MLRUN_FRAME_PAYLOAD_MAX.
  void add(mlrun_frame header, const void* payload, uint32_t bytes);

  // Writes what is held back. False: it could not be written.
  [[nodiscard]] bool flush();

  // Calls `look` for each record of the frames of type KEPT that are written.
  using Look = std::function<void(const char* record, uint32_t bytes)>;
  [[nodiscard]] bool for_each_record(const Look& look) const;

  // Writes the file anew without the records of frames of type KEPT for which `is_to_go` says so. Whoever kills mlrun
  // meanwhile finds the old file or the new one. False: it could not be written, and the old one stays, but `is_to_go` was
  // asked. Requires: nothing is held back.
  using IsToGo = std::function<bool(const char* record, uint32_t bytes)>;
  [[nodiscard]] bool rewrite(const IsToGo& is_to_go);

  [[nodiscard]] uint64_t bytes() const { return end_; }
  [[nodiscard]] bool is_due() const { return held_.size() >= kHeldBytes; }

 private:
  static constexpr size_t kHeldBytes = 1 << 20;

  using OfFrame = std::function<bool(const mlrun_frame& header, const char* payload)>;
  [[nodiscard]] bool for_each_frame(const OfFrame& of_frame) const;  // until it says false

  std::string path_;
  util::UniqueFd fd_;
  std::string held_;  // the last held_.size() bytes up to end_
  uint64_t end_ = 0;
};

}  // namespace mlrun::collect
