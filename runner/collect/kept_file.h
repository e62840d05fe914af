// SPDX-License-Identifier: Apache-2.0
// kept.bin: data that must outlive freed events (names, files, processes, threads, losses), as frames like those of the
// spool (runner/events/spool.h). New frames stay in memory until flush(); if mlrun is killed before, nothing is lost,
// because the originals are still in the spool.
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

  // Temporary file of rewrite(); may remain if mlrun is killed.
  static std::string unfinished_path(const std::string& path) { return path + ".new"; }

  // Magic, version, payload_bytes and crc32c of the header are filled in. Requires: bytes <= MLRUN_FRAME_PAYLOAD_MAX.
  void add(mlrun_frame header, const void* payload, uint32_t bytes);

  // Writes the frames held in memory. False: a write failed.
  [[nodiscard]] bool flush();

  // Calls `of_record` for each record of the frames of type KEPT that are in the file. False: a read failed.
  using OfRecord = std::function<void(const char* record, uint32_t bytes)>;
  [[nodiscard]] bool for_each_record(const OfRecord& of_record) const;

  // Rewrites the file without the records of KEPT frames that `is_to_go` selects. Atomic: if mlrun is killed, either
  // the old or the new file exists. False: a write failed and the old file stays, although `is_to_go` was called.
  // Requires: no frames are held in memory.
  using IsToGo = std::function<bool(const char* record, uint32_t bytes)>;
  [[nodiscard]] bool rewrite(const IsToGo& is_to_go);

  [[nodiscard]] uint64_t bytes() const { return end_; }
  [[nodiscard]] bool is_due() const { return held_.size() >= kHeldBytes; }

 private:
  static constexpr size_t kHeldBytes = 1 << 20;

  using OfFrame = std::function<bool(const mlrun_frame& header, const char* payload)>;
  [[nodiscard]] bool for_each_frame(const OfFrame& of_frame) const;  // stops when of_frame returns false

  std::string path_;
  util::UniqueFd fd_;
  std::string held_;  // not yet written: the last held_.size() bytes before end_
  uint64_t end_ = 0;
};

}  // namespace mlrun::collect
